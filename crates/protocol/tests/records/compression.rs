//! The codecs, apart from batches.

use std::io::Write;

use copart_protocol::ErrorKind;
use copart_protocol::records::{Codec, Compression, Compressor, Decompressor};

const COMPRESSING: [Codec; 4] = [Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

fn compress(compression: impl Into<Compression>, input: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    Compressor::new()
        .compress(compression.into(), input, &mut out)
        .unwrap();
    out
}

fn decompress(codec: Codec, input: &[u8], limit: usize) -> copart_protocol::Result<Vec<u8>> {
    let mut out = Vec::new();
    Decompressor::new(limit).decompress(codec, input, &mut out)?;
    Ok(out)
}

/// Text that compresses, with a tail that does not.
fn sample(len: usize) -> Vec<u8> {
    let mut state = 1u32;
    let mut out = Vec::with_capacity(len + 64);
    while out.len() < len {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        write!(out, "{{\"order\":{},\"state\":\"paid\"}}", state >> 12).unwrap();
    }
    out.truncate(len);
    out
}

fn noise(len: usize) -> Vec<u8> {
    let mut state = 0x2545_f491_4f6c_dd1du64;
    (0..len)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        })
        .collect()
}

#[test]
fn all_levels_round_trip() {
    let input = sample(150_000);
    let mut sizes = Vec::new();
    let mut compressor = Compressor::new();
    let mut decompressor = Decompressor::new(input.len());
    let (mut compressed, mut out) = (Vec::new(), Vec::new());
    for codec in Codec::ALL {
        let levels: Vec<i32> = match codec.levels() {
            None => vec![],
            Some(levels) if codec == Codec::Zstd => {
                assert_eq!((*levels.start(), *levels.end()), (-131_072, 22));
                // The highest ones need hundreds of MiB and show nothing new.
                vec![-131_072, -5, 0, 1, 3, 12, 19]
            }
            Some(levels) => levels.collect(),
        };
        let choices = levels
            .iter()
            .map(|&level| Compression::new(codec).with_level(level).unwrap())
            .chain([Compression::new(codec)]);
        for compression in choices {
            compressed.clear();
            compressor
                .compress(compression, &input, &mut compressed)
                .unwrap();
            decompressor
                .decompress(codec, &compressed, &mut out)
                .unwrap();
            assert!(out == input, "{compression:?}");
            sizes.push((codec, compression.level(), compressed.len()));
        }
    }
    // Levels make a difference, in the right direction.
    let size = |codec, level| {
        sizes
            .iter()
            .find(|size| (size.0, size.1) == (codec, level))
            .unwrap()
            .2
    };
    assert!(size(Codec::Gzip, Some(9)) < size(Codec::Gzip, Some(1)));
    assert!(size(Codec::Lz4, Some(12)) < size(Codec::Lz4, Some(9)));
    assert!(size(Codec::Zstd, Some(19)) < size(Codec::Zstd, Some(1)));
    for (codec, default) in [(Codec::Gzip, 6), (Codec::Lz4, 9), (Codec::Zstd, 3)] {
        assert_eq!(size(codec, Some(default)), size(codec, None));
    }
}

#[test]
fn levels_that_do_not_exist_are_refused() {
    for (codec, level) in [
        (Codec::None, 1),
        (Codec::Snappy, 1),
        (Codec::Gzip, 0),
        (Codec::Gzip, 10),
        (Codec::Lz4, 0),
        (Codec::Lz4, 18),
        (Codec::Zstd, 23),
        (Codec::Zstd, -131_073),
    ] {
        let error = Compression::new(codec).with_level(level).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unencodable);
    }
}

#[test]
fn names_and_numbers() {
    for codec in Codec::ALL {
        assert_eq!(codec.name().parse::<Codec>().unwrap(), codec);
        assert_eq!(Codec::from_id(codec.id()), Some(codec));
    }
    assert_eq!(Codec::from_id(5), None);
    assert!("GZIP".parse::<Codec>().is_err());
}

#[test]
fn all_sizes_round_trip_at_exactly_their_limit() {
    let (text, noise) = (sample(200_000), noise(200_000));
    for codec in Codec::ALL {
        // Around the block sizes of snappy-java (32 KiB) and LZ4 (64 KiB).
        for len in [
            0, 1, 2, 100, 1023, 1024, 1025, 32_767, 32_768, 32_769, 65_535, 65_536, 65_537,
            131_072, 200_000,
        ] {
            for input in [&text[..len], &noise[..len]] {
                let compressed = compress(codec, input);
                let out = decompress(codec, &compressed, len).unwrap();
                assert!(out == input, "{codec} {len}");
                if len > 0 {
                    let error = decompress(codec, &compressed, len - 1).unwrap_err();
                    assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{codec} {len}");
                }
            }
        }
    }
}

#[test]
fn cut_off_data_is_corrupt() {
    let input = sample(70_000);
    for codec in COMPRESSING {
        let compressed = compress(codec, &input);
        for cut in (0..compressed.len())
            .step_by(7)
            .chain([compressed.len() - 1])
        {
            match decompress(codec, &compressed[..cut], 1 << 20) {
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{codec} {cut}"),
                // Between two blocks, snappy's framing cannot tell; the number
                // of records can. An empty zstd input is zero frames.
                Ok(out) => {
                    assert!(input.starts_with(&out) && out.len() < input.len());
                    assert!(
                        matches!(codec, Codec::Snappy) || (codec == Codec::Zstd && cut == 0),
                        "{codec} {cut}"
                    );
                }
            }
        }
    }
}

/// A gigabyte of zeros in as few bytes as each codec can put it. Where the
/// format lets streams follow each other, one is repeated: compressing it all
/// takes a debug build minutes.
fn bomb(codec: Codec) -> Vec<u8> {
    const SIZE: usize = 1 << 30;
    let zeros = vec![0u8; 1 << 20];
    let times = SIZE / zeros.len();
    match codec {
        Codec::Gzip | Codec::Snappy => compress(codec, &zeros).repeat(times),
        Codec::Zstd => {
            let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
            for _ in 0..times {
                encoder.write_all(&zeros).unwrap();
            }
            encoder.finish().unwrap()
        }
        Codec::Lz4 => {
            let mut encoder = lz4::EncoderBuilder::new().build(Vec::new()).unwrap();
            for _ in 0..times {
                encoder.write_all(&zeros).unwrap();
            }
            encoder.finish().0
        }
        Codec::None => unreachable!("not compressed"),
    }
}

#[test]
fn bombs_stop_at_the_limit() {
    for codec in COMPRESSING {
        let bomb = bomb(codec);
        for limit in [0, 1, 1000, 1 << 20, (8 << 20) + 1] {
            let mut out = Vec::new();
            let error = Decompressor::new(limit)
                .decompress(codec, &bomb, &mut out)
                .unwrap_err();
            assert_eq!(error.kind(), ErrorKind::LimitExceeded, "{codec} {limit}");
            assert!(error.to_string().contains(codec.name()), "{error}");
            assert!(
                out.capacity() <= 2 * limit.max(1024),
                "{codec} {limit}: {}",
                out.capacity()
            );
        }
    }
}

#[test]
fn a_decompressor_goes_on_after_errors() {
    let input = sample(50_000);
    let mut decompressor = Decompressor::new(0);
    let mut out = Vec::new();
    for codec in COMPRESSING {
        let compressed = compress(codec, &input);
        let damaged: Vec<u8> = compressed.iter().map(|byte| byte ^ 0x55).collect();
        for _ in 0..3 {
            decompressor.set_limit(1000);
            assert!(
                decompressor
                    .decompress(codec, &compressed, &mut out)
                    .is_err()
            );
            decompressor.set_limit(input.len());
            assert!(decompressor.decompress(codec, &damaged, &mut out).is_err());
            decompressor
                .decompress(codec, &compressed, &mut out)
                .unwrap();
            assert!(out == input, "{codec}");
        }
    }
}

#[test]
fn bare_snappy_is_read() {
    let input = sample(100_000);
    let bare = snap::raw::Encoder::new().compress_vec(&input).unwrap();
    assert!(decompress(Codec::Snappy, &bare, input.len()).unwrap() == input);
    // What we write is framed: the header of snappy-java.
    let framed = compress(Codec::Snappy, &input);
    assert_eq!(framed[..16], *b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01");
    // Streams put behind each other are one.
    let twice = [&framed[..], &framed[..]].concat();
    let out = decompress(Codec::Snappy, &twice, 2 * input.len()).unwrap();
    assert!(out == [&input[..], &input[..]].concat());
}

#[test]
fn snappy_that_lies_about_its_size_is_refused() {
    // 4 GiB declared by five bytes, bare and framed.
    let bare = [0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0];
    let mut framed = b"\x82SNAPPY\0\0\0\0\x01\0\0\0\x01\0\0\0\x07".to_vec();
    framed.extend_from_slice(&bare);
    for input in [&bare[..], &framed] {
        let error = decompress(Codec::Snappy, input, 1 << 20).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::LimitExceeded);
        let error = decompress(Codec::Snappy, input, usize::MAX).unwrap_err();
        assert!(matches!(
            error.kind(),
            ErrorKind::Corrupt | ErrorKind::LimitExceeded
        ));
    }
}

#[test]
fn gzip_members_follow_each_other() {
    let (first, second) = (sample(1000), noise(3000));
    let mut bytes = compress(Codec::Gzip, &first);
    // One member with everything that a member header can have.
    let mut builder = flate2::GzBuilder::new()
        .filename("a name")
        .comment("a comment")
        .extra(vec![1, 2, 3])
        .write(Vec::new(), flate2::Compression::best());
    builder.write_all(&second).unwrap();
    bytes.extend(builder.finish().unwrap());
    let both = [&first[..], &second].concat();
    assert!(decompress(Codec::Gzip, &bytes, both.len()).unwrap() == both);
    // Zeros behind the last member are padding to Java's reader, and here.
    bytes.extend([0; 32]);
    assert!(decompress(Codec::Gzip, &bytes, both.len()).unwrap() == both);
}

#[test]
fn gzip_checks_its_trailer() {
    let compressed = compress(Codec::Gzip, &sample(1000));
    for at in compressed.len() - 8..compressed.len() {
        let mut damaged = compressed.clone();
        damaged[at] ^= 1;
        let error = decompress(Codec::Gzip, &damaged, 1 << 20).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
}

#[test]
fn linked_and_sized_lz4_frames_are_read() {
    let input = sample(300_000);
    for block_size in [lz4::BlockSize::Max64KB, lz4::BlockSize::Max4MB] {
        let mut encoder = lz4::EncoderBuilder::new()
            .block_mode(lz4::BlockMode::Linked)
            .block_size(block_size)
            .content_size(input.len() as u64)
            .build(Vec::new())
            .unwrap();
        encoder.write_all(&input).unwrap();
        let (frame, result) = encoder.finish();
        result.unwrap();
        assert!(decompress(Codec::Lz4, &frame, input.len()).unwrap() == input);
    }
}

#[test]
fn zstd_frames_of_any_kind_are_read() {
    let input = sample(300_000);
    // Streamed without a known size, with a checksum, and with a window of
    // 128 MiB, as Java's writer does at its highest level.
    let mut encoder = zstd::Encoder::new(Vec::new(), 1).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.window_log(27).unwrap();
    encoder.write_all(&input).unwrap();
    let streamed = encoder.finish().unwrap();
    assert_eq!(
        zstd::zstd_safe::get_frame_content_size(&streamed).unwrap(),
        None
    );
    assert!(decompress(Codec::Zstd, &streamed, input.len()).unwrap() == input);
    let two = [&streamed[..], &compress(Codec::Zstd, b"more")].concat();
    let out = decompress(Codec::Zstd, &two, input.len() + 4).unwrap();
    assert!(out == [&input[..], b"more"].concat());
}
