//! Filters as images, and back.

use super::{Bloom, Chain, Spec, chain::Link};
use crate::{
    error::LoadError,
    types::{
        bytes::{Reader, Writer},
        dump::Dump,
        image::{self, Body, Pending},
        redisbloom,
    },
};
use gowk::{
    AnyFilter, BlockedBloom, BlockedParams, Build, Filter, HashId, Hasher, Persist, Promise, ScalableBloom,
    ScalableParams, Seed, bloom::blocked::Span, format::redisbloom::RedisBloom, store::Line,
};

/// A chain: what was asked for, then each link.
const CHAIN: u8 = 1;
/// The bytes of a `.gowk` file.
const FILE: u8 = 2;
/// RedisBloom's chunks, one after another, each with its iterator and length.
const CHUNKS: u8 = 3;

/// Links that a header may name; a chain of ours stays far below, a merged one below this.
const MOST_LINKS: u32 = 4096;

pub(super) fn chain_image(chain: &Chain) -> (Vec<u8>, Body<'_>) {
    let body = Body::Lines(chain.links.iter().map(|link| link.filter.lines()).collect());
    let mut header = image::header(CHAIN, body.len());
    let Spec { capacity, error, expansion, growing } = chain.spec;
    header.u64(capacity).f64(error).u32(expansion).u8(growing.into()).u32(chain.links.len() as u32);
    for link in &chain.links {
        let params = link.filter.params();
        header.u64(params.blocks()).u8(params.span() as u8).u8(params.lanes() as u8);
        header.u64(link.capacity).f64(link.rate).u64(link.keys);
        write_hasher(&mut header, link.filter.hasher());
    }
    (header.done(), body)
}

pub(crate) fn file_image(filter: &impl Persist) -> (Vec<u8>, Body<'static>) {
    let bytes = filter.to_bytes();
    (image::header(FILE, bytes.len() as u64).done(), Body::Bytes(bytes.into()))
}

pub(super) fn compat_image(filter: &RedisBloom) -> (Vec<u8>, Body<'static>) {
    let bytes = filter.to_bytes();
    (image::header(CHUNKS, bytes.len() as u64).done(), Body::Bytes(bytes.into()))
}

/// The filter of an image that has all its chunks.
pub(super) fn complete(pending: &mut Pending) -> Result<Bloom, LoadError> {
    if !image::is_ours(&pending.header) {
        return redisbloom::bloom(&pending.header, &pending.body)
            .map(|filter| Bloom::Compat(Box::new(filter)));
    }
    let (kind, _, fields) = image::read_header(&pending.header)?;
    match kind {
        CHAIN => read_chain(fields, &pending.body).map(Bloom::Chain),
        FILE => {
            fields.end()?;
            Ok(from_file(AnyFilter::from_bytes(&pending.body)?))
        }
        CHUNKS => {
            fields.end()?;
            let filter = RedisBloom::from_bytes(&pending.body);
            let filter =
                filter.map_err(|why| LoadError::field("the filter", format!("cannot be read: {why}")))?;
            Ok(Bloom::Compat(Box::new(filter)))
        }
        other => Err(LoadError::Encoding { found: other.into() }),
    }
}

/// The form in which a filter of a file is kept.
pub(super) fn from_file(filter: AnyFilter) -> Bloom {
    match filter {
        AnyFilter::Window(window) => Bloom::Window(Box::new(window), Dump::default()),
        other => Bloom::Fixed(Box::new(other)),
    }
}

/// A filter from a file, made ready for more keys where its family can take them.
pub(crate) fn adopt(filter: AnyFilter) -> Bloom {
    let (expansion, error, links) = match filter {
        AnyFilter::BlockedBloom(filter) => {
            let keys = filter.estimated_items().round() as u64;
            (0, filter.params().promise().fpp, vec![(filter, keys)])
        }
        AnyFilter::ScalableBloom(chain) => {
            (chain.params().growth() as u32, chain.params().fpp(), chain.into_links().collect())
        }
        other => return from_file(other),
    };
    let link = |(filter, keys): (BlockedBloom, u64)| {
        let Promise { items, fpp } = filter.params().promise();
        Link { filter, capacity: items, rate: fpp, keys }
    };
    let links: Vec<Link> = links.into_iter().map(link).collect();
    let capacity = links.first().map_or(1, |link| link.capacity);
    Bloom::Chain(Chain { spec: Spec { capacity, error, expansion, growing: false }, links })
}

/// The bytes of a `.gowk` file of this filter.
pub(crate) fn to_file(bloom: &Bloom) -> Result<Vec<u8>, LoadError> {
    match bloom {
        Bloom::Chain(chain) => chain_file(chain),
        Bloom::Window(window, _) => Ok(window.to_bytes()),
        Bloom::Fixed(filter) => Ok(filter.to_bytes()),
        Bloom::Compat(_) => Err(LoadError::field("the filter", "is RedisBloom's; use BF.SCANDUMP")),
        Bloom::Pending(_) => Err(LoadError::Cut),
    }
}

fn chain_file(chain: &Chain) -> Result<Vec<u8>, LoadError> {
    let mut links = chain.links.iter();
    let first = links.next().expect("a chain has a link");
    if chain.links.len() == 1 {
        return Ok(first.filter.to_bytes());
    }
    let growth = f64::from(chain.spec.expansion.clamp(1, 64));
    let params = ScalableParams::new(chain.spec.capacity, chain.spec.error)?.with_growth(growth)?;
    let mut file = ScalableBloom::of_link(params, first.filter.clone(), first.keys);
    for link in links {
        file.push_link(link.filter.clone(), link.keys)
            .map_err(|why| LoadError::field("the filter", format!("was merged of several: {why}")))?;
    }
    Ok(file.to_bytes())
}

fn read_chain(mut fields: Reader<'_>, body: &[u8]) -> Result<Chain, LoadError> {
    let spec = Spec {
        capacity: fields.u64()?,
        error: rate(fields.f64()?)?,
        expansion: fields.u32()?,
        growing: fields.u8()? != 0,
    };
    let count = fields.u32()?;
    if count == 0 || count > MOST_LINKS {
        return Err(LoadError::field("the number of links", format!("is {count}")));
    }
    if spec.capacity == 0 || spec.expansion > 32_768 {
        return Err(LoadError::field("the capacity or the expansion", "is out of range"));
    }
    let mut body = Reader::new(body);
    let mut links = Vec::new();
    for _ in 0..count {
        links.push(read_link(&mut fields, &mut body)?);
    }
    fields.end()?;
    body.end()?;
    Ok(Chain { spec, links })
}

fn read_link(fields: &mut Reader<'_>, body: &mut Reader<'_>) -> Result<Link, LoadError> {
    let (blocks, span, lanes) = (fields.u64()?, fields.u8()?, fields.u8()?);
    let (capacity, rate, keys) = (fields.u64()?, rate(fields.f64()?)?, fields.u64()?);
    let hasher = read_hasher(fields)?;
    let span = Span::from_lines(span).ok_or(LoadError::field("the lines of a block", "are not 1, 2 or 4"))?;
    let params = BlockedParams::with_shape(blocks, span, lanes.into(), capacity)?
        .with_promise(Promise { items: capacity, fpp: rate });
    // The bytes are there before memory is asked for.
    let len = params.lines().checked_mul(Line::BYTES as u64).and_then(|len| usize::try_from(len).ok());
    let bytes = body.slice(len.ok_or(LoadError::Cut)?)?;
    let mut filter = BlockedBloom::with_params(params, hasher)?;
    let (lines, _) = bytes.as_chunks();
    for (to, from) in filter.lines_mut().iter_mut().zip(lines) {
        *to = Line::from_le_bytes(from);
    }
    Ok(Link { filter, capacity, rate, keys })
}

fn rate(rate: f64) -> Result<f64, LoadError> {
    match rate > 0.0 && rate < 1.0 {
        true => Ok(rate),
        false => Err(LoadError::field("a rate", format!("is {rate}"))),
    }
}

pub(crate) fn write_hasher(writer: &mut Writer, hasher: &Hasher) {
    writer.u8(hasher.id() as u8).bytes(&hasher.seed().to_bytes());
}

pub(crate) fn read_hasher(reader: &mut Reader<'_>) -> Result<Hasher, LoadError> {
    let id = reader.u8()?;
    let id = HashId::from_tag(id).ok_or(LoadError::field("the hash", format!("{id} is not known")))?;
    Ok(Hasher::with_id(id, Seed::from_bytes(reader.array()?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Chain {
        let spec = Spec { capacity: 100, error: 0.01, expansion: 2, growing: true };
        let mut chain = Chain::new(spec, Hasher::new(1), None).unwrap();
        let keys: Vec<String> = (0..5000).map(|i| i.to_string()).collect();
        chain.add(keys.iter().map(String::as_bytes), None, |added| assert!(added.is_ok()));
        chain
    }

    fn pending(header: Vec<u8>, body: &[u8]) -> Result<Pending, LoadError> {
        let mut pending = Pending::new(header)?;
        pending.take(1 + body.len() as u64, body)?;
        Ok(pending)
    }

    #[test]
    fn a_chain_is_the_same_after_its_image() {
        let chain = sample();
        let (header, body) = chain_image(&chain);
        let body = body.read(0, usize::MAX >> 8);
        let Bloom::Chain(again) = complete(&mut pending(header, &body).unwrap()).unwrap() else { panic!() };
        assert_eq!(again.spec, chain.spec);
        assert_eq!(again.links.len(), chain.links.len());
        for (a, b) in again.links.iter().zip(&chain.links) {
            assert!(a.filter == b.filter && a.keys == b.keys && a.capacity == b.capacity);
        }
    }

    #[test]
    fn a_changed_header_is_refused_or_gives_a_chain_and_never_a_panic() {
        let chain = sample();
        let (header, body) = chain_image(&chain);
        let body = body.read(0, usize::MAX >> 8);
        for at in 0..header.len() {
            for flip in [1, 0x10, 0x80, 0xff] {
                let mut forged = header.clone();
                forged[at] ^= flip;
                if let Ok(mut pending) = pending(forged, &body)
                    && pending.is_complete()
                    && let Ok(bloom) = complete(&mut pending)
                {
                    bloom.may_contain(b"1").unwrap();
                }
            }
        }
    }

    #[test]
    fn a_chain_becomes_a_file_and_comes_back() {
        let chain = sample();
        let bytes = to_file(&Bloom::Chain(sample())).unwrap();
        let Bloom::Chain(again) = adopt(AnyFilter::from_bytes(&bytes).unwrap()) else { panic!() };
        assert_eq!(again.keys(), chain.keys());
        assert_eq!(again.capacity(), chain.capacity());
        assert!((0..5000).all(|i| again.may_contain(i.to_string().as_bytes())));
    }
}
