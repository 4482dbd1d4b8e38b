module copart/vectors/kafka-go-0.2

go 1.26.0

require (
	copart/vectors/placement v0.0.0
	github.com/segmentio/kafka-go v0.2.0
)

require (
	github.com/golang/snappy v1.0.0 // indirect
	github.com/pierrec/lz4 v2.6.1+incompatible // indirect
	golang.org/x/net v0.62.0 // indirect
)

replace copart/vectors/placement => ../placement
