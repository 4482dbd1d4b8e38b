//! What package managers wrote, cut to what matters; and what nobody should have written.

use super::*;

fn found(kind: LockKind, text: &str, name: &str) -> Vec<(Result<String, String>, u64)> {
    let packages = kind
        .packages(text, &[name])
        .unwrap_or_else(|e| panic!("{kind:?}: {e:?}"));
    packages.into_iter().map(|p| (p.release, p.line)).collect()
}

fn release(kind: LockKind, text: &str, name: &str) -> (String, u64) {
    match found(kind, text, name).as_slice() {
        [(Ok(release), line)] => (release.clone(), *line),
        other => panic!("{kind:?}: {other:?}"),
    }
}

fn open(kind: LockKind, text: &str, name: &str) -> String {
    match found(kind, text, name).as_slice() {
        [(Err(why), _)] => why.clone(),
        other => panic!("{kind:?}: {other:?}"),
    }
}

const NPM_3: &str = r#"{
  "name": "orders",
  "lockfileVersion": 3,
  "packages": {
    "": { "name": "orders", "dependencies": { "kafkajs": "^1.16.0" } },
    "node_modules/kafkajs": {
      "version": "1.16.0",
      "resolved": "https://registry.npmjs.org/kafkajs/-/kafkajs-1.16.0.tgz"
    },
    "node_modules/other/node_modules/kafkajs": {
      "version": "2.2.4"
    },
    "node_modules/k2": { "name": "@platformatic/kafka", "version": "1.35.0" },
    "node_modules/linked": { "resolved": "../linked", "link": true }
  }
}"#;

#[test]
fn npm() {
    assert_eq!(
        release(LockKind::Npm, NPM_3, "kafkajs"),
        ("1.16.0".into(), 7)
    );
    assert_eq!(
        release(LockKind::Npm, NPM_3, "@platformatic/kafka").0,
        "1.35.0"
    );
    assert!(open(LockKind::Npm, NPM_3, "linked").contains("../linked"));
    let one = r#"{
  "lockfileVersion": 1,
  "dependencies": {
    "other": {
      "version": "1.0.0",
      "dependencies": {
        "kafkajs": {
          "version": "1.15.0" } }
    },
    "alias": { "version": "npm:kafka-node@5.0.0" },
    "fork": { "version": "git+https://example.test/fork.git#abc" }
  }
}"#;
    assert_eq!(release(LockKind::Npm, one, "kafkajs").0, "1.15.0");
    assert_eq!(release(LockKind::Npm, one, "kafka-node").0, "5.0.0");
    assert!(open(LockKind::Npm, one, "fork").contains("git+https"));
}

#[test]
fn yarn() {
    let classic = "# yarn lockfile v1\n\n\n\"@platformatic/kafka@^1.0.0\":\n  version \"1.35.0\"\n  dependencies:\n    kafkajs \"^1.0.0\"\n\nkafkajs@^1.15.0, kafkajs@^1.16.0:\n  version \"1.16.0\"\n  resolved \"https://registry.yarnpkg.com/kafkajs/-/kafkajs-1.16.0.tgz#abc\"\n\n\"k@npm:kafka-node@^5.0.0\":\n  version \"5.0.0\"\n\nfork@git+ssh://git@example.test/x.git:\n  version \"1.0.0\"\n";
    assert_eq!(
        release(LockKind::Yarn, classic, "kafkajs"),
        ("1.16.0".into(), 10)
    );
    assert_eq!(
        release(LockKind::Yarn, classic, "@platformatic/kafka").0,
        "1.35.0"
    );
    assert_eq!(release(LockKind::Yarn, classic, "kafka-node").0, "5.0.0");
    assert!(open(LockKind::Yarn, classic, "fork").contains("git+ssh"));
    let berry = "__metadata:\n  version: 8\n\n\"kafkajs@npm:^1.15.0, kafkajs@npm:^1.16.0\":\n  version: 1.16.0\n  resolution: \"kafkajs@npm:1.16.0\"\n  languageName: node\n\n\"app@workspace:.\":\n  version: 0.0.0-use.local\n  resolution: \"app@workspace:.\"\n  dependencies:\n    kafkajs: \"npm:^1.16.0\"\n\n\"p@patch:p@npm%3A1.0.0#x\":\n  resolution: \"p@patch:p@npm%3A1.0.0#x::version=1.0.0\"\n";
    assert_eq!(
        release(LockKind::Yarn, berry, "kafkajs"),
        ("1.16.0".into(), 6)
    );
    assert!(open(LockKind::Yarn, berry, "app").contains("workspace"));
    assert!(open(LockKind::Yarn, berry, "p").contains("patched"));
}

#[test]
fn pnpm() {
    for (version, key) in [
        ("5.4", "/kafkajs/1.16.0"),
        ("5.4", "/kafkajs/1.16.0_peer@1.0.0"),
        ("'6.0'", "/kafkajs@1.16.0"),
        ("'6.0'", "/kafkajs@1.16.0(peer@1.0.0)"),
        ("'9.0'", "kafkajs@1.16.0"),
    ] {
        let text = format!(
            "lockfileVersion: {version}\n\nimporters:\n  .:\n    dependencies:\n      kafkajs:\n        specifier: ^1.16.0\n        version: 1.16.0\n\npackages:\n\n  {key}:\n    resolution: {{integrity: sha512-x}}\n    engines: {{node: '>=10'}}\n\n  '@platformatic/kafka@1.35.0':\n    cpu: [x64, arm64]\n"
        );
        assert_eq!(
            release(LockKind::Pnpm, &text, "kafkajs"),
            ("1.16.0".into(), 12),
            "{key}"
        );
    }
    let nine = "lockfileVersion: '9.0'\npackages:\n  '@platformatic/kafka@1.35.0':\n    cpu: [x64]\n  kafkajs@https://example.test/x.tgz:\n    version: 1.0.0\n";
    assert_eq!(
        release(LockKind::Pnpm, nine, "@platformatic/kafka").0,
        "1.35.0"
    );
    assert!(open(LockKind::Pnpm, nine, "kafkajs").contains("https://example.test"));
    let one = "lockfileVersion: 9\npackages:\n  a@1: &x\n    b: *x\n";
    assert!(
        LockKind::Pnpm
            .packages(one, &["a"])
            .unwrap_err()
            .what
            .contains("aliases")
    );
}

#[test]
fn bundler() {
    let text = "GIT\n  remote: https://example.test/racecar.git\n  revision: abc\n  specs:\n    racecar (2.0.0)\n      rdkafka (~> 0.12)\n\nGEM\n  remote: https://rubygems.org/\n  specs:\n    rdkafka (0.29.0-x86_64-linux-gnu)\n    ruby-kafka (1.5.0)\n      digest-crc\n\nDEPENDENCIES\n  ruby-kafka (~> 1.5)\n";
    assert_eq!(
        release(LockKind::Bundler, text, "ruby-kafka"),
        ("1.5.0".into(), 12)
    );
    assert_eq!(release(LockKind::Bundler, text, "rdkafka").0, "0.29.0");
    assert!(open(LockKind::Bundler, text, "racecar").contains("example.test"));
}

#[test]
fn go() {
    let text = "module example.test/orders\n\ngo 1.22\n\nrequire github.com/IBM/sarama v1.43.0 // direct\n\nrequire (\n\tgithub.com/segmentio/kafka-go v0.4.47\n\tgithub.com/twmb/franz-go v1.16.0 // indirect\n)\n\nreplace github.com/twmb/franz-go => ../franz-go\n\nreplace github.com/IBM/sarama v1.43.0 => github.com/IBM/sarama v1.42.0\n";
    assert_eq!(
        release(LockKind::GoMod, text, "github.com/segmentio/kafka-go"),
        ("v0.4.47".into(), 8)
    );
    assert_eq!(
        release(LockKind::GoMod, text, "github.com/IBM/sarama"),
        ("v1.42.0".into(), 14)
    );
    assert!(open(LockKind::GoMod, text, "github.com/twmb/franz-go").contains("../franz-go"));
    let old = text.replace("go 1.22", "go 1.16");
    assert!(open(LockKind::GoMod, &old, "github.com/segmentio/kafka-go").contains("go mod tidy"));
    assert!(
        LockKind::of_path(Path::new("x/go.sum"))
            .unwrap_err()
            .contains("name go.mod")
    );
}

#[test]
fn python() {
    let text = "# comment\n--index-url https://example.test/simple\nKafka_Python[crypto]==2.0.2 ; python_version > '3' \\\n    --hash=sha256:abc\naiokafka>=0.10\nconfluent-kafka @ git+https://example.test/x.git#egg=y\npykafka==2.* # any\n";
    assert_eq!(
        release(LockKind::Requirements, text, "kafka-python"),
        ("2.0.2".into(), 3)
    );
    assert!(open(LockKind::Requirements, text, "aiokafka").contains("pin one with =="));
    assert!(open(LockKind::Requirements, text, "confluent-kafka").contains("git+https"));
    assert!(open(LockKind::Requirements, text, "pykafka").contains("==2.*"));
    let includes = LockKind::Requirements.packages("-r base.txt\n", &["aiokafka"]);
    assert!(includes.unwrap_err().what.contains("base.txt"));

    let pipfile = "{\n  \"_meta\": {},\n  \"default\": {\n    \"aiokafka\": {\n      \"version\": \"==0.12.0\"\n    },\n    \"pykafka\": {\"git\": \"https://example.test/p.git\"}\n  }\n}";
    assert_eq!(
        release(LockKind::Pipfile, pipfile, "aiokafka"),
        ("0.12.0".into(), 5)
    );
    assert!(open(LockKind::Pipfile, pipfile, "pykafka").contains("p.git"));

    let poetry = "[[package]]\nname = \"kafka-python\"\nversion = \"2.0.2\"\n\n[[package]]\nname = \"aiokafka\"\nversion = \"0.12.0\"\n[package.source]\ntype = \"git\"\nurl = \"https://example.test/a.git\"\n\n[metadata]\nlock-version = \"2.0\"\n";
    assert_eq!(
        release(LockKind::Poetry, poetry, "kafka-python"),
        ("2.0.2".into(), 3)
    );
    assert!(open(LockKind::Poetry, poetry, "aiokafka").contains("a.git"));
    let uv = "version = 1\n\n[[package]]\nname = \"aiokafka\"\nversion = \"0.12.0\"\nsource = { registry = \"https://pypi.org/simple\" }\n\n[[package]]\nname = \"app\"\nversion = \"0.1.0\"\nsource = { editable = \".\" }\n";
    assert_eq!(
        release(LockKind::Poetry, uv, "aiokafka"),
        ("0.12.0".into(), 5)
    );
    assert!(open(LockKind::Poetry, uv, "app").contains("taken from ."));
}

const POM: &str = "<?xml version=\"1.0\"?>
<project xmlns=\"http://maven.apache.org/POM/4.0.0\">
  <parent><groupId>p</groupId><artifactId>p</artifactId><version>1</version></parent>
  <properties><kafka.version>${base}.1</kafka.version><base>3.9</base></properties>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId>
      <artifactId>kafka-clients</artifactId>
      <version>${kafka.version}</version>
      <exclusions><exclusion><groupId>x</groupId><artifactId>y</artifactId></exclusion></exclusions>
    </dependency>
    <dependency><groupId>a</groupId><artifactId>managed</artifactId></dependency>
    <dependency><groupId>a</groupId><artifactId>parents</artifactId></dependency>
    <dependency><groupId>a</groupId><artifactId>open</artifactId><version>[1,2)</version></dependency>
    <dependency><groupId>a</groupId><artifactId>far</artifactId><version>${far}</version></dependency>
  </dependencies>
  <dependencyManagement><dependencies>
    <dependency><groupId>a</groupId><artifactId>managed</artifactId>
      <version>1.5</version></dependency>
  </dependencies></dependencyManagement>
  <build><plugins><plugin><dependencies><dependency>
    <groupId>org.apache.kafka</groupId><artifactId>kafka-clients</artifactId><version>0.8</version>
  </dependency></dependencies></plugin></plugins></build>
</project>";

#[test]
fn maven() {
    assert_eq!(
        release(LockKind::Maven, POM, "org.apache.kafka:kafka-clients"),
        ("3.9.1".into(), 9)
    );
    assert_eq!(
        release(LockKind::Maven, POM, "a:managed"),
        ("1.5".into(), 19)
    );
    assert!(open(LockKind::Maven, POM, "a:parents").contains("the parent decides"));
    assert!(open(LockKind::Maven, POM, "a:open").contains("is a range"));
    assert!(open(LockKind::Maven, POM, "a:far").contains("`far` is not in this file"));
    let transitive = LockKind::Maven.packages(POM, &["a:none"]).unwrap_err();
    assert!(transitive.what.contains("effective-pom"), "{transitive:?}");
    let effective = format!("<projects>{}</projects>", POM.split_once("?>\n").unwrap().1);
    assert_eq!(
        release(
            LockKind::Maven,
            &effective,
            "org.apache.kafka:kafka-clients"
        )
        .0,
        "3.9.1"
    );
    let endless = POM.replace("<base>3.9</base>", "<base>${kafka.version}</base>");
    assert!(
        open(LockKind::Maven, &endless, "org.apache.kafka:kafka-clients").contains("too often")
    );
}

#[test]
fn the_others() {
    let gradle = "# This is a Gradle generated file\norg.apache.kafka:kafka-clients:3.9.0=compileClasspath,runtimeClasspath\nempty=annotationProcessor\n";
    assert_eq!(
        release(LockKind::Gradle, gradle, "org.apache.kafka:kafka-clients"),
        ("3.9.0".into(), 2)
    );

    let cargo = "version = 4\n\n[[package]]\nname = \"kafka\"\nversion = \"0.10.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n\n[[package]]\nname = \"rdkafka\"\nversion = \"0.37.0\"\nsource = \"git+https://example.test/r?rev=1\"\n\n[[package]]\nname = \"mine\"\nversion = \"1.0.0\"\n";
    assert_eq!(
        release(LockKind::Cargo, cargo, "kafka"),
        ("0.10.0".into(), 5)
    );
    assert!(open(LockKind::Cargo, cargo, "rdkafka").contains("git+https"));
    assert!(open(LockKind::Cargo, cargo, "mine").contains("workspace"));

    let mix = "%{\n  \"brod\": {:hex, :brod, \"4.6.2\", \"abc\", [:rebar3], [], \"hexpm\", \"def\"},\n  \"kafka_ex\": {:git, \"https://example.test/k.git\", \"abc\", []},\n}\n";
    assert_eq!(release(LockKind::Mix, mix, "brod"), ("4.6.2".into(), 2));
    assert!(open(LockKind::Mix, mix, "kafka_ex").contains("k.git"));

    let composer = "{\n  \"packages\": [\n    {\n      \"name\": \"longlang/phpkafka\",\n      \"version\": \"v1.1.4\"\n    },\n    {\"name\": \"a/b\", \"version\": \"dev-main\"}\n  ]\n}";
    assert_eq!(
        release(LockKind::Composer, composer, "longlang/phpkafka"),
        ("v1.1.4".into(), 5)
    );
    assert!(open(LockKind::Composer, composer, "a/b").contains("dev-main"));

    let nuget = "{\n  \"version\": 1,\n  \"dependencies\": {\n    \"net8.0\": {\n      \"Confluent.Kafka\": {\n        \"type\": \"Direct\",\n        \"requested\": \"[2.3.0, )\",\n        \"resolved\": \"2.3.0\"\n      }\n    },\n    \"net9.0\": { \"Confluent.Kafka\": { \"resolved\": \"2.3.0\" } }\n  }\n}";
    assert_eq!(
        release(LockKind::NuGet, nuget, "confluent.kafka"),
        ("2.3.0".into(), 8)
    );
}

/// Every parser on every text that is none of its own, cut anywhere, and nested deep.
#[test]
fn hostile_files_are_errors_and_nothing_more() {
    let deep: Vec<String> = [
        "[",
        "{\"packages\":",
        "a: [",
        "a:\n ",
        "<project>",
        "{a: ",
        "? ",
    ]
    .iter()
    .map(|part| part.repeat(20_000))
    .collect();
    let others = [
        "",
        "\0",
        "\u{feff}",
        "}",
        "{",
        "[]",
        "null",
        "\"x\"",
        "%{",
        "module",
        "GEM\n",
        "=\n",
        "x",
        "{\"packages\": {\"node_modules/kafkajs\": 7}}",
        "{\"packages\": [7, null, {}]}",
        "{\"dependencies\": {\"kafkajs\": null, \"x\": {\"dependencies\": {\"y\": 1}}}}",
        "package = 3",
        "[[package]]\nname = 7",
        "require (\n a b c\n)",
        "module x\nreplace kafkajs",
        "kafkajs@:\n  version",
        "__metadata:\n- x\n",
        "lockfileVersion: 5.4\npackages:\n  /kafkajs:\n    x: 1",
        "<project><dependencies><dependency>",
        "<!DOCTYPE x [<!ENTITY a \"b\">]><project/>",
        "kafkajs==1 \\",
        "%{\n\"kafkajs\": {:hex",
        "kafkajs (",
        "GEM\n  specs:\n    kafkajs (",
    ];
    let known = [NPM_3, POM];
    let mut errors = 0;
    for (kind, _) in LockKind::ALL {
        let texts = deep.iter().map(String::as_str).chain(others);
        for text in texts {
            errors += usize::from(kind.packages(text, &["kafkajs"]).is_err());
        }
        for text in known {
            for cut in (0..text.len())
                .step_by(7)
                .filter(|&cut| text.is_char_boundary(cut))
            {
                let _ = kind.packages(&text[..cut], &["kafkajs", "a:managed"]);
            }
        }
    }
    assert!(errors > 200, "{errors}");
}

#[test]
fn names_of_files() {
    for (path, kind) in [
        ("a/package-lock.json", LockKind::Npm),
        ("requirements-dev.txt", LockKind::Requirements),
        ("gems.locked", LockKind::Bundler),
        ("uv.lock", LockKind::Poetry),
        ("buildscript-gradle.lockfile", LockKind::Gradle),
    ] {
        assert_eq!(LockKind::of_path(Path::new(path)), Ok(kind));
    }
    for (path, hint) in [
        ("package.json", "package-lock.json"),
        ("build.gradle.kts", "gradle.lockfile"),
        ("App.csproj", "packages.lock.json"),
        ("x.y", "no lock file that is known"),
    ] {
        assert!(
            LockKind::of_path(Path::new(path))
                .unwrap_err()
                .contains(hint),
            "{path}"
        );
    }
}

#[test]
fn files_are_read_within_limits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("yarn.lock");
    std::fs::write(&path, b"a\xff").unwrap();
    assert!(read(&path).unwrap_err().contains("byte 2 is not UTF-8"));
    File::create(&path).unwrap().set_len(MAX_BYTES + 1).unwrap();
    assert!(read(&path).unwrap_err().contains("64 MiB"));
    assert!(read(folder.path()).is_err());
}
