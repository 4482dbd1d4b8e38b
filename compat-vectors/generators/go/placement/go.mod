module copart/vectors/placement

go 1.26.0
