# frozen_string_literal: true

# Places keys with ruby-kafka's own partitioner (optional: only where the gem is installed), and with
# Zlib.crc32, the function that ruby-kafka's default hashes with.
#
# usage: place.rb KEYS_JSONL COUNTS OUT_DIR

require "json"
require "zlib"

INSTANCES = 3
REPEATS = 3

Key = Struct.new(:id, :hex) do
  def bytes
    hex && [hex].pack("H*")
  end
end

KEYS = File.foreach(ARGV[0]).map { |line| JSON.parse(line).values_at("id", "key_hex") }.map { |row| Key.new(*row) }
COUNTS = ARGV[1].split(",").map(&:to_i)
OUT_DIR = ARGV[2]

# The partition at every count, or nil where a repetition or a fresh instance chooses another one.
def placements(instances, bytes)
  COUNTS.to_h do |count|
    placed = instances.flat_map { |place| Array.new(REPEATS) { place.call(bytes, count) } }.uniq
    return nil if placed.size > 1

    [count.to_s, placed.first]
  end
end

def row(key, instances, hash)
  placed = placements(instances, key.bytes)
  head = { id: key.id, key_hex: key.hex }
  return { **head, partitions: nil, outcome: "unpinned", detail: "differs between fresh instances or calls" } unless placed

  { **head, **(key.hex ? { hash: hash.call(key.bytes) } : {}), partitions: placed }
end

# `fresh` makes a new partitioner and returns how to call it: bytes and count to a partition.
def write_run(run, keys:, hash:, &fresh)
  instances = Array.new(INSTANCES) { fresh.call }
  file = "#{run[:profile].gsub('/', '__')}-#{run[:client].tr(' ', '-')}.jsonl"
  File.write(File.join(OUT_DIR, file), keys.map { |key| "#{JSON.generate(row(key, instances, hash))}\n" }.join)
  File.open(File.join(OUT_DIR, "runs.jsonl"), "a") { |runs| runs.puts(JSON.generate({ file: file, **run })) }
end

def zlib_run
  run = {
    profile: "ruby-kafka/crc32", client: "ruby Zlib", version: Zlib::VERSION, partitioner: "Zlib.crc32(key) % count",
    how: "Ruby #{RUBY_VERSION} with zlib #{Zlib.zlib_version}; the hash alone, without ruby-kafka",
    partial: "the null key, which ruby-kafka does not hash"
  }
  write_run(run, keys: KEYS.select(&:hex), hash: Zlib.method(:crc32)) { ->(bytes, count) { Zlib.crc32(bytes) % count } }
end

def ruby_kafka_run(hash_function, profile, how)
  digest = Kafka::Digest.find_digest(hash_function)
  run = {
    profile: profile, client: "ruby-kafka", version: Gem.loaded_specs.fetch("ruby-kafka").version.to_s,
    partitioner: hash_function.to_s, how: how
  }
  write_run(run, keys: KEYS, hash: digest.method(:hash)) do
    partitioner = Kafka::Partitioner.new(hash_function: hash_function)
    lambda do |bytes, count|
      message = Kafka::PendingMessage.new(
        value: "v", key: bytes, topic: "t", partition: nil, partition_key: nil, create_time: Time.now
      )
      partitioner.call(count, message)
    end
  end
end

# Gems that are absent are no error here; gems that are present and broken are.
def with_gems(profile, *names)
  missing = names.reject do |name|
    gem name
    true
  rescue Gem::MissingSpecError
    false
  end
  return yield if missing.empty?

  warn "skipped: #{profile}: not installed: #{missing.map { |name| "gem #{name}" }.join(', ')}"
end

# The C extension reads the key as `char`, whose sign is the platform's choice.
def murmur2_profile
  signed_char = RUBY_PLATFORM.match?(/x86|i\d86|x64|darwin/)
  signed_char ? "ruby-kafka/murmur2" : "ruby-kafka/murmur2-unsigned-char"
end

zlib_run

with_gems("ruby-kafka/crc32", "ruby-kafka") do
  require "kafka/partitioner"
  require "kafka/pending_message"
  ruby_kafka_run(:crc32, "ruby-kafka/crc32", "gem; Kafka::Partitioner#call with each key and count")
end

with_gems(murmur2_profile, "ruby-kafka", "digest-murmurhash") do
  extension = Gem.loaded_specs.fetch("digest-murmurhash").version
  ruby_kafka_run(:murmur2, murmur2_profile,
                 "gem; Kafka::Partitioner#call with each key and count; digest-murmurhash #{extension} on #{RUBY_PLATFORM}")
end
