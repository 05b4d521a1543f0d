//! The server as a browser meets it, and as a stranger would like to.

use super::*;
use axum::{
    body::Body,
    http::{Request, Response, StatusCode, header},
};
use gowk::{BlockedBloom, Costs, Insert, Needs, Persist};
use http_body_util::BodyExt;
use serde_json::{Value, json};
use std::{fs, path::Path};
use tower::ServiceExt;

const PORT: u16 = 4321;
const HOST: &str = "127.0.0.1:4321";

fn site(folder: Option<&Path>) -> Router {
    router(PORT, Arc::new(inspect::Shelf::new(folder, None, 1_000_000).unwrap()))
}

async fn send(site: &Router, request: Request<Body>) -> Response<Body> {
    site.clone().oneshot(request).await.unwrap()
}

async fn text(response: Response<Body>) -> String {
    String::from_utf8(response.into_body().collect().await.unwrap().to_bytes().to_vec()).unwrap()
}

async fn json_of(response: Response<Body>) -> (StatusCode, Value) {
    let status = response.status();
    (status, serde_json::from_str(&text(response).await).unwrap_or(Value::Null))
}

async fn get_json(site: &Router, path: &str) -> (StatusCode, Value) {
    let request = Request::get(path).header(header::HOST, HOST).body(Body::empty()).unwrap();
    json_of(send(site, request).await).await
}

async fn post_json(site: &Router, path: &str, body: &Value) -> (StatusCode, Value) {
    let request = Request::post(path)
        .header(header::HOST, HOST)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ORIGIN, format!("http://{HOST}"))
        .header("sec-fetch-site", "same-origin");
    json_of(send(site, request.body(Body::from(body.to_string())).unwrap()).await).await
}

async fn upload(site: &Router, name: &str, bytes: Vec<u8>) -> (StatusCode, Value) {
    let request = Request::post(format!("/api/filters?name={name}")).header(header::HOST, HOST);
    json_of(send(site, request.body(Body::from(bytes)).unwrap()).await).await
}

/// Whether the number came through text and back: its last digit may have been lost.
fn is(value: &Value, wanted: f64) -> bool {
    value.as_f64().is_some_and(|value| (value - wanted).abs() <= 1e-12 * wanted.abs())
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../golden")
}

#[tokio::test]
async fn only_our_own_names_are_answered() {
    let site = site(None);
    for host in ["127.0.0.1:4321", "localhost:4321", "LOCALHOST:4321"] {
        let request = Request::get("/").header(header::HOST, host).body(Body::empty()).unwrap();
        assert_eq!(send(&site, request).await.status(), StatusCode::OK, "{host}");
    }
    for host in [
        "evil.example",
        "evil.example:4321",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1:4321.evil.example",
        "localhost.evil.example:4321",
        "",
    ] {
        for path in ["/", "/api/plan", "/script/main.js", "/nothing"] {
            let request = Request::get(path).header(header::HOST, host).body(Body::empty()).unwrap();
            assert_eq!(send(&site, request).await.status(), StatusCode::FORBIDDEN, "{host} {path}");
        }
    }
    let nameless = Request::get("/").body(Body::empty()).unwrap();
    assert_eq!(send(&site, nameless).await.status(), StatusCode::FORBIDDEN);
}

#[tokio::test]
async fn pages_of_other_sites_are_not_answered() {
    let site = site(None);
    for origin in [
        "http://evil.example",
        "https://127.0.0.1:4321",
        "http://127.0.0.1:9999",
        "null",
        "http://127.0.0.1:4321.evil.example",
    ] {
        let request = Request::get("/api/plan").header(header::HOST, HOST).header(header::ORIGIN, origin);
        assert_eq!(
            send(&site, request.body(Body::empty()).unwrap()).await.status(),
            StatusCode::FORBIDDEN,
            "{origin}"
        );
    }
    for (method, from, status) in [
        ("GET", "same-origin", StatusCode::OK),
        ("GET", "none", StatusCode::OK),
        ("GET", "cross-site", StatusCode::FORBIDDEN),
        ("GET", "same-site", StatusCode::FORBIDDEN),
        ("POST", "none", StatusCode::FORBIDDEN),
        ("POST", "cross-site", StatusCode::FORBIDDEN),
    ] {
        let request = Request::builder()
            .method(method)
            .uri("/api/plan")
            .header(header::HOST, HOST)
            .header("sec-fetch-site", from);
        assert_eq!(
            send(&site, request.body(Body::empty()).unwrap()).await.status(),
            status,
            "{method} {from}"
        );
    }
    // A link to the page from elsewhere works: it is only the interface that is ours alone.
    let linked = Request::get("/").header(header::HOST, HOST).header("sec-fetch-site", "cross-site");
    assert_eq!(send(&site, linked.body(Body::empty()).unwrap()).await.status(), StatusCode::OK);
}

#[tokio::test]
async fn every_answer_bears_the_policy_and_no_answer_may_be_shared() {
    let site = site(None);
    for (path, host) in [("/", HOST), ("/api/plan", HOST), ("/api/nothing", HOST), ("/", "evil.example")] {
        let request =
            Request::get(path).header(header::HOST, host).header(header::ORIGIN, format!("http://{HOST}"));
        let response = send(&site, request.body(Body::empty()).unwrap()).await;
        let policy = response.headers()[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; style-src 'self'"), "{policy}");
        assert!(!policy.contains("unsafe") && !policy.contains('*'), "{policy}");
        assert_eq!(response.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert!(!response.headers().contains_key(header::ACCESS_CONTROL_ALLOW_ORIGIN));
    }
}

#[tokio::test]
async fn the_page_names_no_file_that_is_not_there_and_nothing_inline() {
    let site = site(None);
    let page = |path: String| {
        let site = site.clone();
        async move {
            let request = Request::get(&path).header(header::HOST, HOST).body(Body::empty()).unwrap();
            let response = send(&site, request).await;
            assert_eq!(response.status(), StatusCode::OK, "{path}");
            text(response).await
        }
    };
    let html = page("/".into()).await;
    assert!(
        !html.contains("style=")
            && !html.contains("onclick=")
            && !html.contains("http://")
            && !html.contains("https://")
    );
    let files = [".js", ".css", ".svg"];
    for reference in html.split('"').filter(|part| files.iter().any(|ending| part.ends_with(ending))) {
        assert!(page(format!("/{reference}")).await.len() > 10, "{reference}");
    }
    for script in ["main.js", "plan.js", "lab/view.js", "inspect/view.js"] {
        let code = page(format!("/script/{script}")).await;
        assert!(!code.contains("innerHTML") && !code.contains("eval("), "{script}");
        let folder = script.rsplit_once('/').map_or(String::new(), |(folder, _)| format!("{folder}/"));
        for import in code.split('"').filter(|part| part.starts_with("./") || part.starts_with("../")) {
            let path = match import.strip_prefix("../") {
                Some(rest) => format!("/script/{rest}"),
                None => format!("/script/{folder}{}", import.trim_start_matches("./")),
            };
            page(path).await;
        }
    }
}

#[tokio::test]
async fn the_plan_is_the_librarys() {
    let site = site(None);
    let (status, plan) =
        get_json(&site, "/api/plan?items=123456&fpp=0.003&deletes=true&cost_miss=0.005&absent=0.9").await;
    assert_eq!(status, StatusCode::OK);
    let costs = Costs { miss: 0.005, absent: 0.9, ..Costs::default() };
    let choices = Needs::new(123_456, 0.003).unwrap().deletes().plan(costs);
    assert!(choices.len() > 1);
    assert_eq!(plan["choices"].as_array().unwrap().len(), choices.len());
    for (told, choice) in plan["choices"].as_array().unwrap().iter().zip(&choices) {
        assert_eq!(told["family"], choice.family.name());
        assert_eq!(told["bytes"], choice.bytes);
        assert!(is(&told["bits_per_key"], choice.bits_per_key));
        assert!(is(&told["false_positive_seconds"], choice.false_positive_cost));
    }
    assert_eq!(plan["reason"], choices[0].reason(&choices[1..]));
    let (status, curves) = get_json(&site, "/api/plan/curves?items=20000&fpp=0.01").await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(curves["space"].as_array().unwrap().len(), 7);
    for curve in curves["space"].as_array().unwrap() {
        let points = curve["points"].as_array().unwrap();
        assert_eq!(points.len(), 41);
        assert!(points.is_sorted_by(|a, b| a[0].as_f64() < b[0].as_f64()), "{}", curve["family"]);
        let (rate, bits) = (points[30][0].as_f64().unwrap(), points[30][1].as_f64().unwrap());
        let alone = gowk::curves::space(20_000, &[rate]);
        let same = alone.iter().find(|one| one.family.name() == curve["family"]).unwrap();
        assert!((bits / same.points[0].1 - 1.0).abs() < 1e-12);
    }
    let probes = gowk::curves::probes(20_000, 0.01).unwrap();
    assert_eq!(curves["probes"].as_array().unwrap().len(), probes.len());
    assert!(
        curves["probes"].as_array().unwrap().iter().zip(probes).all(|(told, (_, rate))| is(&told[1], rate))
    );
}

#[tokio::test]
async fn plans_that_make_no_sense_are_refused_with_a_reason() {
    let site = site(None);
    for (query, part) in [
        ("items=0", "at least 1"),
        ("fpp=1.5", "not between 0 and 1"),
        ("fpp=NaN", "not between 0 and 1"),
        ("absent=2", "from 0 to 1"),
        ("cost_miss=-1", "above 0"),
    ] {
        for path in ["plan", "plan/curves"] {
            if path == "plan/curves" && !(query.starts_with("items") || query.starts_with("fpp")) {
                continue;
            }
            let (status, body) = get_json(&site, &format!("/api/{path}?{query}")).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{query}");
            assert!(body["error"].as_str().unwrap().contains(part), "{query}: {body}");
        }
    }
    let (status, _) = get_json(&site, "/api/plan?items=many").await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn a_filter_is_opened_asked_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let mut seen = BlockedBloom::builder().items(2_000).fpp(0.001).seed(3).build().unwrap();
    let mut fewer = seen.clone();
    let keys: Vec<String> = (0..1_500).map(|i| format!("key-{i}")).collect();
    seen.insert_many(&keys);
    fewer.insert_many(&keys[..500]);
    seen.save(folder.path().join("seen.gowk")).unwrap();
    fewer.save(folder.path().join("fewer.gowk")).unwrap();
    let site = site(Some(folder.path()));

    let (_, list) = get_json(&site, "/api/folder").await;
    let names: Vec<&str> =
        list["entries"].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["fewer.gowk", "seen.gowk"]);
    let (status, report) = post_json(&site, "/api/filters/open", &json!({"path": "seen.gowk"})).await;
    assert_eq!(status, StatusCode::OK, "{report}");
    let stats = gowk::Filter::stats(&seen);
    assert!(is(&report["estimated_items"], stats.estimated_items));
    assert!(is(&report["fpp_now"], stats.fpp_now));
    assert_eq!(report["room"], stats.room());
    let cells = report["heat"]["cells"].as_array().unwrap();
    let mean: f64 = cells.iter().map(|cell| cell.as_f64().unwrap()).sum::<f64>() / cells.len() as f64;
    assert!((mean - stats.fill).abs() < 1e-9);

    let ask = format!("/api/filters/{}/ask", report["id"]);
    let (_, answers) =
        post_json(&site, &ask, &json!({"keys": ["key-7", "stranger"], "key_type": "text"})).await;
    assert_eq!(answers["answers"][0]["answer"], "maybe");
    assert_eq!(answers["answers"][1]["answer"], "no");
    let (_, answers) = post_json(&site, &ask, &json!({"keys": ["seven"], "key_type": "i64"})).await;
    assert!(answers["answers"][0]["error"].as_str().unwrap().contains("seven"));

    let (_, second) = upload(&site, "fewer.gowk", fs::read(folder.path().join("fewer.gowk")).unwrap()).await;
    let (status, sizes) =
        get_json(&site, &format!("/api/compare?a={}&b={}", report["id"], second["id"])).await;
    assert_eq!(status, StatusCode::OK, "{sizes}");
    let near = |value: &Value, wanted: f64| (value.as_f64().unwrap() / wanted - 1.0).abs() < 0.1;
    assert!(
        near(&sizes["both"], 500.0) && near(&sizes["union"], 1_500.0) && near(&sizes["only_a"], 1_000.0),
        "{sizes}"
    );
    let (status, _) = get_json(&site, "/api/compare?a=1&b=99").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn nothing_outside_the_folder_is_opened_or_told_apart() {
    let outer = tempfile::tempdir().unwrap();
    let folder = outer.path().join("given");
    fs::create_dir(&folder).unwrap();
    fs::write(outer.path().join("secret"), "secret").unwrap();
    let site = site(Some(&folder));
    for path in ["../secret", "/etc/passwd", "..", "sub/../../secret", "%2e%2e/secret"] {
        let (status, there) = post_json(&site, "/api/filters/open", &json!({ "path": path })).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
        // Whether something is there or not, the answer is the same.
        let (_, absent) =
            post_json(&site, "/api/filters/open", &json!({"path": format!("{path}-no-such")})).await;
        let plain = |body: &Value| body["error"].as_str().unwrap().replace("-no-such", "");
        assert_eq!(plain(&there), plain(&absent));
        let (status, _) = get_json(&site, &format!("/api/folder?path={}", path.replace('%', "%25"))).await;
        assert_eq!(status, StatusCode::NOT_FOUND, "{path}");
    }
    let bare = router(PORT, Arc::new(inspect::Shelf::new(None, None, 1).unwrap()));
    let (_, none) = post_json(&bare, "/api/filters/open", &json!({"path": "a"})).await;
    assert!(none["error"].as_str().unwrap().contains("no folder was given"));
}

#[tokio::test]
async fn uploads_and_questions_have_limits() {
    let site = site(None);
    let (status, body) = upload(&site, "big", vec![0; 1_000_001]).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(body["error"].as_str().unwrap().contains("larger than 1 MB"));
    let (status, _) =
        post_json(&site, "/api/lab", &json!({ "events": vec![("insert", "x".repeat(1000)); 2000] })).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
}

#[tokio::test]
async fn a_gzipped_filter_cannot_unpack_beyond_the_limit() {
    use std::io::Write;
    // A head of DCSO that claims 2^33 bits, and zeros that are easily packed.
    let mut plain = Vec::new();
    plain.extend(1u64.to_le_bytes());
    plain.extend(1_000_000_000u64.to_le_bytes());
    plain.extend(0.01f64.to_bits().to_le_bytes());
    plain.extend(7u64.to_le_bytes());
    plain.extend((1u64 << 33).to_le_bytes());
    plain.extend(0u64.to_le_bytes());
    plain.resize(8 << 20, 0);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(&plain).unwrap();
    let packed = packed.finish().unwrap();
    assert!(packed.len() < 1 << 20);
    let (status, body) = upload(&site(None), "bomb.gz", packed).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    let error = body["error"].as_str().unwrap();
    assert!(
        error.contains("unpacks to more than 1 MB") || error.contains("is not the file of a filter"),
        "{error}"
    );
}

#[tokio::test]
async fn every_kind_of_file_is_read_and_finds_its_keys() {
    let site = site(Some(&golden()));
    let (mut opened, mut asked) = (0, 0);
    for maker in ["gowk-v1", "guava", "spark", "parquet", "redis", "dcso"] {
        for entry in fs::read_dir(golden().join(maker)).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            let is_filter = ["gowk", "bin", "parquet", "sbbf", "chunks", "bloom"]
                .iter()
                .any(|ending| name.ends_with(&format!(".{ending}")));
            if !is_filter {
                continue;
            }
            let (status, report) =
                post_json(&site, "/api/filters/open", &json!({"path": format!("{maker}/{name}")})).await;
            assert_eq!(status, StatusCode::OK, "{name}: {report}");
            opened += 1;
            let Ok(keys) = fs::read_to_string(path.with_extension("inserted.txt")) else { continue };
            // Text is quoted as JSON, bytes are in hexadecimal, numbers as they are.
            let unquoted =
                |line: &str| serde_json::from_str::<String>(line).unwrap_or_else(|_| line.to_owned());
            let keys: Vec<String> = keys.lines().take(50).map(unquoted).collect();
            let ask = format!("/api/filters/{}/ask", report["id"]);
            let mut found = keys.is_empty();
            for key_type in report["key_types"].as_array().unwrap() {
                let (status, answers) =
                    post_json(&site, &ask, &json!({"keys": keys, "key_type": key_type})).await;
                assert_eq!(status, StatusCode::OK, "{name}: {answers}");
                found |= answers["answers"].as_array().unwrap().iter().all(|one| one["answer"] == "maybe");
            }
            assert!(found, "{name}: no type of key finds the keys, {:?}", keys.first());
            asked += 1;
        }
    }
    assert!(opened > 50 && asked > 25, "{opened} opened, {asked} asked");
}

#[tokio::test]
async fn hostile_files_get_an_error_and_nothing_else() {
    let site = site(None);
    let mut refused = 0;
    for file in [
        "gowk-v1/cuckoo_counted.gowk",
        "gowk-v1/bloom.gowk",
        "gowk-v1/bitmap.gowk",
        "guava/int_edge_8_p03.bin",
        "redis/cf_grow_64.chunks",
        "parquet/int32_300_p01.parquet",
    ] {
        let bytes = fs::read(golden().join(file)).unwrap();
        let mut hostile: Vec<Vec<u8>> = [0, 1, 7, 40, 127, 128, bytes.len() / 2, bytes.len() - 1]
            .map(|len| bytes[..len.min(bytes.len())].to_vec())
            .into();
        for at in (0..bytes.len().min(200)).step_by(3) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            hostile.push(flipped);
            let mut huge = bytes.clone();
            huge[at..(at + 8).min(bytes.len())].fill(0xff);
            hostile.push(huge);
        }
        for bytes in hostile {
            let (status, body) = upload(&site, "%3Cscript%3E", bytes).await;
            match status {
                StatusCode::OK => {}
                StatusCode::BAD_REQUEST => {
                    refused += 1;
                    assert!(body["error"].as_str().unwrap().len() > 10, "{body}");
                }
                other => panic!("{file}: {other} {body}"),
            }
        }
    }
    assert!(refused > 200, "{refused}");
}

#[tokio::test]
async fn the_oldest_filter_makes_room_for_a_new_one_and_its_copy_goes() {
    let shelf = Arc::new(inspect::Shelf::new(None, None, 1 << 20).unwrap());
    let site = router(PORT, Arc::clone(&shelf));
    let bytes = fs::read(golden().join("gowk-v1/bloom.gowk")).unwrap();
    let (_, first) = upload(&site, "first", bytes.clone()).await;
    for _ in 0..8 {
        upload(&site, "another", bytes.clone()).await;
    }
    let (status, _) = post_json(
        &site,
        &format!("/api/filters/{}/ask", first["id"]),
        &json!({"keys": ["a"], "key_type": "text"}),
    )
    .await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    assert_eq!(fs::read_dir(shelf.uploads()).unwrap().count(), 8);
}

#[tokio::test]
async fn a_server_is_bound_to_the_loopback_answers_and_ends() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let server = Server::bind(Options::default()).await.unwrap();
    let url = server.url();
    let address = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
    assert!(address.starts_with("127.0.0.1:"));
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let running = tokio::spawn(server.run(async { ended.await.unwrap_or(()) }));
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    stream
        .write_all(format!("GET / HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").as_bytes())
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("<title>gowk</title>"));
    // One that sends nothing does not keep it from ending.
    let _silent = tokio::net::TcpStream::connect(&address).await.unwrap();
    end.send(()).unwrap();
    running.await.unwrap().unwrap();
}

/// Servers of one's own, a site that knows them, and a filter of each kind there.
async fn with_servers() -> (gowk_testkit::Server, Router) {
    let redis = gowk_testkit::Server::plain(&["--save", ""]);
    let mut client = redis.connect();
    client.say("CONFIG SET requirepass never-to-be-seen");
    let url = format!("redis://:never-to-be-seen@127.0.0.1:{}", redis.port);
    let options = gowk_redis::Options::default().patience(Duration::from_millis(300));
    let servers = gowk_redis::Servers::connect(&[url], options).await.unwrap();
    let spec = gowk_redis::Spec::new(1_000, 0.001);
    let seen = gowk_redis::Bloom::create(&servers, "seen:by:day", &spec).await.unwrap();
    seen.add_many(&["alice", "bob"]).await.unwrap();
    seen.add_many(&[7u64]).await.unwrap();
    let carts = gowk_redis::Counting::create(&servers, "carts", &spec).await.unwrap();
    carts.add_many(&["apple"]).await.unwrap();
    // What is no filter, and what was one.
    for line in ["SET gowk:text hello", "HSET gowk:else live nonsense", "HSET other live x"] {
        client.say(line);
    }
    (redis, router(PORT, Arc::new(inspect::Shelf::new(None, Some(servers), 1_000_000).unwrap())))
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_on_servers_are_listed_looked_at_and_asked() {
    let (redis, site) = with_servers().await;
    let (status, told) = get_json(&site, "/api/servers").await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(told["servers"], json!([format!("127.0.0.1:{}", redis.port)]));
    let names: Vec<&str> =
        told["filters"].as_array().unwrap().iter().map(|filter| filter["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["carts", "seen:by:day"]);

    let (status, seen) =
        post_json(&site, "/api/servers/open", &json!({ "name": "seen:by:day", "keeper": "bloom" })).await;
    assert_eq!(status, StatusCode::OK, "{seen}");
    assert_eq!(
        (&seen["items"], &seen["fpp"], &seen["overfull"]),
        (&json!(1_000), &json!(0.001), &json!(false))
    );
    assert!((seen["estimated_items"].as_f64().unwrap() - 3.0).abs() < 0.5, "{seen}");
    assert_eq!(
        seen["heat"]["cells"].as_array().unwrap().len() as u64,
        seen["heat"]["parts"].as_u64().unwrap()
    );
    let ask = async |id: &Value, keys: &[&str], key_type: &str| {
        post_json(&site, &format!("/api/filters/{id}/ask"), &json!({ "keys": keys, "key_type": key_type }))
            .await
    };
    let (_, told) = ask(&seen["id"], &["alice", "bob", "carol"], "text").await;
    let answers: Vec<&str> =
        told["answers"].as_array().unwrap().iter().map(|one| one["answer"].as_str().unwrap()).collect();
    assert_eq!(answers, ["maybe", "maybe", "no"]);
    // Errors stay with their keys.
    let (_, told) = ask(&seen["id"], &["seven", "7", "8"], "u64").await;
    assert!(told["answers"][0]["error"].is_string());
    assert_eq!(
        (&told["answers"][1]["answer"], &told["answers"][2]["answer"]),
        (&json!("maybe"), &json!("no"))
    );

    let (_, carts) =
        post_json(&site, "/api/servers/open", &json!({ "name": "carts", "keeper": "counting" })).await;
    let (_, told) = ask(&carts["id"], &["apple", "pear"], "text").await;
    assert_eq!(
        (&told["answers"][0]["answer"], &told["answers"][1]["answer"]),
        (&json!("maybe"), &json!("no"))
    );
    let (status, told) = get_json(&site, &format!("/api/compare?a={}&b={}", seen["id"], carts["id"])).await;
    assert!(
        status == StatusCode::BAD_REQUEST && told["error"].as_str().unwrap().contains("gowk redis export")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_of_a_module_are_listed_looked_at_and_asked() {
    let redis = gowk_testkit::Server::start(&["--save", ""]);
    let mut client = redis.connect();
    client.say("BF.RESERVE users 0.01 1000");
    client.say("BF.MADD users alice bob");
    client.say("CF.ADD nests alice");
    let url = format!("redis://127.0.0.1:{}", redis.port);
    let servers = gowk_redis::Servers::connect(&[url], gowk_redis::Options::default()).await.unwrap();
    let site = router(PORT, Arc::new(inspect::Shelf::new(None, Some(servers), 1_000_000).unwrap()));
    let (_, told) = get_json(&site, "/api/servers").await;
    for (name, keeper, found) in
        [("nests", "module-cuckoo", [true, false, false]), ("users", "module-bloom", [true, true, false])]
    {
        let listed =
            told["filters"].as_array().unwrap().iter().find(|filter| filter["name"] == name).unwrap();
        assert_eq!(listed["keeper"], keeper);
        let (status, report) =
            post_json(&site, "/api/servers/open", &json!({ "name": name, "keeper": keeper })).await;
        assert_eq!(status, StatusCode::OK, "{report}");
        assert!(
            report["estimated_items"].as_u64().unwrap() > 0 && report["bytes"].as_u64().unwrap() > 0,
            "{report}"
        );
        let question = json!({ "keys": ["alice", "bob", "carol"], "key_type": "text" });
        let (_, told) = post_json(&site, &format!("/api/filters/{}/ask", report["id"]), &question).await;
        let answers: Vec<bool> =
            told["answers"].as_array().unwrap().iter().map(|one| one["answer"] == "maybe").collect();
        assert_eq!(answers, found, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_fail_are_named_and_the_password_is_not() {
    let (mut redis, site) = with_servers().await;
    let mut said = Vec::new();
    for (name, keeper, status) in [
        ("nobody", "bloom", StatusCode::NOT_FOUND),
        ("a{b", "bloom", StatusCode::NOT_FOUND),
        ("carts", "bloom", StatusCode::BAD_GATEWAY),
        ("text", "bloom", StatusCode::BAD_GATEWAY),
        ("else", "bloom", StatusCode::BAD_GATEWAY),
        ("users", "module-bloom", StatusCode::BAD_GATEWAY),
        ("users", "rm -rf", StatusCode::BAD_REQUEST),
    ] {
        let (got, told) =
            post_json(&site, "/api/servers/open", &json!({ "name": name, "keeper": keeper })).await;
        assert_eq!(got, status, "{name}: {told}");
        said.push(told);
    }
    // No question names a server.
    let url = json!({ "name": "x", "keeper": "bloom", "url": "redis://127.0.0.1:1" });
    assert_eq!(post_json(&site, "/api/servers/open", &url).await.0, StatusCode::UNPROCESSABLE_ENTITY);
    let (_, seen) =
        post_json(&site, "/api/servers/open", &json!({ "name": "seen:by:day", "keeper": "bloom" })).await;
    redis.kill();
    let (status, told) = get_json(&site, "/api/servers").await;
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    said.push(told);
    let question = json!({ "keys": ["alice"], "key_type": "text" });
    let (status, told) = post_json(&site, &format!("/api/filters/{}/ask", seen["id"]), &question).await;
    assert_eq!(status, StatusCode::BAD_GATEWAY);
    said.push(told);
    for told in said {
        let text = told["error"].as_str().unwrap();
        assert!(!text.is_empty() && !text.contains("never-to-be-seen"), "{text}");
    }
    // Without servers there are none.
    let (_, told) = get_json(&self::site(None), "/api/servers").await;
    assert_eq!(told["servers"], Value::Null);
    let open = json!({ "name": "x", "keeper": "bloom" });
    assert_eq!(post_json(&self::site(None), "/api/servers/open", &open).await.0, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn columns_of_a_parquet_file_are_told_and_chosen() {
    let folder = tempfile::tempdir().unwrap();
    fs::copy(golden().join("parquet/two_columns.parquet"), folder.path().join("people.parquet")).unwrap();
    let site = site(Some(folder.path()));
    let bytes = fs::read(folder.path().join("people.parquet")).unwrap();
    let opened = post_json(&site, "/api/filters/open", &json!({ "path": "people.parquet" })).await.1;
    for report in [opened, upload(&site, "people.parquet", bytes).await.1] {
        assert_eq!(
            (&report["columns"], &report["column"]),
            (&json!(["id", "name"]), &json!("id")),
            "{report}"
        );
        let ask = async |id: &Value, key: &str, key_type: &str| {
            let question = json!({ "keys": [key], "key_type": key_type });
            let (_, told) = post_json(&site, &format!("/api/filters/{id}/ask"), &question).await;
            told["answers"][0]["answer"].clone()
        };
        assert_eq!(ask(&report["id"], "1399", "i64").await, "maybe");
        let column = format!("/api/filters/{}/column", report["id"]);
        let (status, other) = post_json(&site, &column, &json!({ "column": "name" })).await;
        assert_eq!((status, &other["column"]), (StatusCode::OK, &json!("name")), "{other}");
        assert_eq!(ask(&other["id"], "user-399", "text").await, "maybe");
        assert_eq!(ask(&other["id"], "nobody", "text").await, "no");
        for column_of in ["note", "none", "../id"] {
            assert_eq!(
                post_json(&site, &column, &json!({ "column": column_of })).await.0,
                StatusCode::BAD_REQUEST
            );
        }
    }
}
