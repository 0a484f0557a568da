import { createContext, runInContext } from "node:vm"
import { assert, describe, it, vi } from "vitest"
import { type RefusalReason, sign, type Verification, verify } from "../src/index.ts"
import { vectors } from "./vectors.ts"

const { previousSecret, secret, timestamp } = vectors
const body = "{\"object\":\"event\"}"
const header = await sign(body, secret, timestamp)
const v1 = header.slice(header.indexOf("v1="))
const accepted: Verification = { ok: true, timestamp }
const refused = (reason: RefusalReason): Verification => ({ ok: false, reason })

/** `verify` as plain JavaScript calls it, without types in the way. */
const loose = verify as (...args: ReadonlyArray<unknown>) => Promise<Verification>
const at = (now: number) => ({ now })

describe("accepted signatures", () => {
  it("a fresh signature is accepted by the clock", async () => {
    const result = await verify(body, await sign(body, secret), secret)
    assert.isTrue(result.ok)
  })

  it("a header with v1 before t is accepted", async () => {
    assert.deepEqual(await verify(body, `${v1},t=${timestamp}`, secret, at(timestamp)), accepted)
  })

  it("unknown schemes besides a good v1 are accepted", async () => {
    for (const extra of ["v0=abc", "v2=a=b==", "v10=1", "T=1", "x=", "__proto__=1", "constructor=1"]) {
      assert.deepEqual(await verify(body, `${header},${extra}`, secret, at(timestamp)), accepted, extra)
      assert.deepEqual(await verify(body, `${extra},${header}`, secret, at(timestamp)), accepted, extra)
    }
  })

  it("a v1 of a different form besides a good one is accepted, but never matches", async () => {
    for (const extra of ["v1=", "v1=potato", `v1=${"A".repeat(64)}`, `v1=${"0".repeat(64)}`]) {
      assert.deepEqual(await verify(body, `t=${timestamp},${extra},${v1}`, secret, at(timestamp)), accepted, extra)
      assert.deepEqual(await verify(body, `${header},${extra}`, secret, at(timestamp)), accepted, extra)
    }
  })

  it("a good v1 in any of the 8 positions is accepted", async () => {
    for (let place = 0; place < 8; place++) {
      const signatures = Array.from({ length: 8 }, (_, index) => index === place ? v1 : `v1=${"0".repeat(64)}`)
      assert.deepEqual(await verify(body, `t=${timestamp},${signatures.join(",")}`, secret, at(timestamp)), accepted)
    }
  })

  it("a header of exactly 4 KiB is accepted", async () => {
    const padding = `v0=${"0".repeat(4096 - header.length - 4)}`
    assert.strictEqual(`${header},${padding}`.length, 4096)
    assert.deepEqual(await verify(body, `${header},${padding}`, secret, at(timestamp)), accepted)
  })

  it("timestamp zero is accepted", async () => {
    assert.deepEqual(await verify(body, await sign(body, secret, 0), secret, at(0)), { ok: true, timestamp: 0 })
  })

  it("a Buffer, a view, shared memory and bytes of a different realm are accepted", async () => {
    const bytes = new TextEncoder().encode(body)
    const larger = new Uint8Array(bytes.length + 20)
    larger.set(bytes, 7)
    const shared = new Uint8Array(new SharedArrayBuffer(bytes.length))
    shared.set(bytes)
    const foreign = runInContext(`Uint8Array.from([${bytes.join()}])`, createContext())
    assert.notInstanceOf(foreign, Uint8Array)
    for (const each of [Buffer.from(body), larger.subarray(7, 7 + bytes.length), shared, foreign]) {
      assert.deepEqual(await verify(each, header, secret, at(timestamp)), accepted)
    }
  })

  it("the body counts as it was at the time of the call", async () => {
    const bytes = new TextEncoder().encode(body)
    const verifying = verify(bytes, header, secret, at(timestamp))
    bytes.fill(0)
    assert.deepEqual(await verifying, accepted)
  })

  it("a body of 400 kB is accepted, but not with one changed byte", async () => {
    const large = new Uint8Array(400_000).map((_, index) => index % 251)
    const signed = await sign(large, secret, timestamp)
    assert.deepEqual(await verify(large, signed, secret, at(timestamp)), accepted)
    large[399_999]! ^= 1
    assert.deepEqual(await verify(large, signed, secret, at(timestamp)), refused("signature_mismatch"))
  })
})

describe("rotation", () => {
  it("a header with both signatures satisfies a receiver with either secret or both", async () => {
    const both = await sign(body, [secret, previousSecret], timestamp)
    for (const has of [secret, previousSecret, [secret, previousSecret], [previousSecret, secret], ["other", secret]]) {
      assert.deepEqual(await verify(body, both, has, at(timestamp)), accepted)
    }
    assert.deepEqual(await verify(body, both, ["other", "another"], at(timestamp)), refused("signature_mismatch"))
  })

  it("a header with the old secret satisfies a receiver with both, until it drops the old one", async () => {
    const old = await sign(body, previousSecret, timestamp)
    assert.deepEqual(await verify(body, old, [secret, previousSecret], at(timestamp)), accepted)
    assert.deepEqual(await verify(body, old, secret, at(timestamp)), refused("signature_mismatch"))
  })

  it("absent and empty secrets are skipped", async () => {
    assert.deepEqual(await loose(body, header, [undefined, "", secret, null], at(timestamp)), accepted)
  })
})

describe("age", () => {
  it("a signature is valid at 300 seconds but not at 301, in both directions", async () => {
    assert.deepEqual(await verify(body, header, secret, at(timestamp + 300)), accepted)
    assert.deepEqual(await verify(body, header, secret, at(timestamp + 301)), refused("timestamp_too_old"))
    assert.deepEqual(await verify(body, header, secret, at(timestamp - 300)), accepted)
    assert.deepEqual(await verify(body, header, secret, at(timestamp - 301)), refused("timestamp_too_new"))
  })

  it("the fraction of now is dropped, so that the clock and a given time agree", async () => {
    assert.deepEqual(await verify(body, header, secret, at(timestamp + 300.999)), accepted)
    assert.deepEqual(await verify(body, header, secret, at(timestamp - 300)), accepted)
    assert.deepEqual(await verify(body, header, secret, at(timestamp - 300.001)), refused("timestamp_too_new"))
  })

  it("without a given time, the clock is read at every call", async () => {
    vi.useFakeTimers({ toFake: ["Date"] })
    try {
      for (
        const [offset, expected] of [
          [300_999, accepted],
          [301_000, refused("timestamp_too_old")],
          [-300_000, accepted],
          [-300_001, refused("timestamp_too_new")]
        ] as const
      ) {
        vi.setSystemTime(timestamp * 1000 + offset)
        assert.deepEqual(await verify(body, header, secret), expected)
      }
    } finally {
      vi.useRealTimers()
    }
  })

  it("the tolerance can be changed, and zero is the strictest", async () => {
    assert.deepEqual(await verify(body, header, secret, { now: timestamp + 10, tolerance: 10 }), accepted)
    assert.deepEqual(
      await verify(body, header, secret, { now: timestamp + 11, tolerance: 10 }),
      refused("timestamp_too_old")
    )
    assert.deepEqual(await verify(body, header, secret, { now: timestamp, tolerance: 0 }), accepted)
    assert.deepEqual(
      await verify(body, header, secret, { now: timestamp + 1, tolerance: 0 }),
      refused("timestamp_too_old")
    )
    assert.deepEqual(
      await verify(body, header, secret, { now: timestamp - 1, tolerance: 0 }),
      refused("timestamp_too_new")
    )
  })

  it("a timestamp in milliseconds is refused, and so is a replay of any age", async () => {
    const inMilliseconds = await sign(body, secret, timestamp * 1000)
    assert.deepEqual(await verify(body, inMilliseconds, secret, at(timestamp)), refused("timestamp_too_new"))
  })

  it("the age is reported only for genuine signatures", async () => {
    const forged = `t=${timestamp},v1=${"0".repeat(64)}`
    for (const now of [timestamp + 301, timestamp - 301]) {
      assert.deepEqual(await verify(body, forged, secret, at(now)), refused("signature_mismatch"))
    }
  })
})

describe("each reason", () => {
  const cases: ReadonlyArray<readonly [RefusalReason, string, ReadonlyArray<unknown>]> = [
    ["invalid_options", "a tolerance that is not a number", [body, header, secret, { tolerance: NaN }]],
    ["invalid_options", "an infinite tolerance", [body, header, secret, { tolerance: Infinity, now: timestamp }]],
    ["invalid_options", "a negative tolerance", [body, header, secret, { tolerance: -1, now: timestamp }]],
    ["invalid_options", "a tolerance as text", [body, header, secret, { tolerance: "300", now: timestamp }]],
    ["invalid_options", "a null tolerance", [body, header, secret, { tolerance: null, now: timestamp }]],
    ["invalid_options", "a tolerance by position", [body, header, secret, 300]],
    ["invalid_options", "a now that is not a number", [body, header, secret, { now: NaN }]],
    ["invalid_options", "a now that is a function", [body, header, secret, { now: () => timestamp }]],
    ["invalid_options", "a now that is a Date", [body, header, secret, { now: new Date(timestamp * 1000) }]],
    ["missing_secret", "an empty secret", [body, header, ""]],
    ["missing_secret", "a blank secret", [body, header, " \t\n"]],
    ["missing_secret", "a secret of NULs, the same key as an empty one", [body, header, "\0\0"]],
    ["missing_secret", "no secret", [body, header, undefined]],
    ["missing_secret", "no secret in the list", [body, header, []]],
    ["missing_secret", "only empty ones in the list", [body, header, ["", "", undefined]]],
    ["missing_secret", "a list of lists", [body, header, [[secret]]]],
    ["missing_secret", "a number", [body, header, 42]],
    ["missing_header", "undefined", [body, undefined, secret]],
    ["missing_header", "null", [body, null, secret]],
    ["missing_header", "the empty string", [body, "", secret]],
    ["header_too_long", "one over 4 KiB", [body, `${header},v0=${"0".repeat(4097 - header.length - 4)}`, secret]],
    ["header_too_long", "16 MiB", [body, "=".repeat(2 ** 24), secret]],
    ["malformed_header", "a list with the good header", [body, [header], secret]],
    ["malformed_header", "a String object", [body, Object(header), secret]],
    ["malformed_header", "a number", [body, 0, secret]],
    ["malformed_header", "false", [body, false, secret]],
    ["malformed_header", "no pair", [body, "bad_header", secret]],
    ["malformed_header", "a trailing comma", [body, `${header},`, secret]],
    ["malformed_header", "a leading comma", [body, `,${header}`, secret]],
    ["malformed_header", "a pair without a name", [body, `${header},=1`, secret]],
    ["malformed_header", "a space after the comma", [body, `t=${timestamp}, ${v1}`, secret]],
    ["malformed_header", "the header twice, as HTTP joins it", [body, `${header}, ${header}`, secret]],
    ["malformed_header", "a trailing newline", [body, `${header}\n`, secret]],
    ["malformed_header", "a character outside ASCII", [body, `${header},v0=é`, secret]],
    ["malformed_header", "semicolons", [body, header.replace(",", ";").replaceAll("=", ":"), secret]],
    ["missing_timestamp", "only v1", [body, v1, secret]],
    ["duplicate_timestamp", "the same twice", [body, `t=${timestamp},${header}`, secret]],
    ["duplicate_timestamp", "another after", [body, `${header},t=1`, secret]],
    ["duplicate_timestamp", "an empty one after", [body, `${header},t=`, secret]],
    ["missing_signature", "only t", [body, `t=${timestamp}`, secret]],
    ["missing_signature", "only v0", [body, header.replace("v1", "v0"), secret]],
    ["missing_signature", "an upper-case V1", [body, header.replace("v1", "V1"), secret]],
    ["too_many_signatures", "nine, all good", [body, `t=${timestamp}${`,${v1}`.repeat(9)}`, secret]],
    ["malformed_signature", "an empty v1", [body, `t=${timestamp},v1=`, secret]],
    ["malformed_signature", "upper-case digits", [body, `t=${timestamp},v1=${v1.slice(3).toUpperCase()}`, secret]],
    ["malformed_signature", "63 digits", [body, header.slice(0, -1), secret]],
    ["malformed_signature", "65 digits", [body, `${header}0`, secret]],
    ["malformed_signature", "base64", [
      body,
      `t=${timestamp},v1=${Buffer.from(v1.slice(3), "hex").toString("base64")}`,
      secret
    ]],
    ["invalid_body", "a parsed object", [JSON.parse(body), header, secret]],
    ["invalid_body", "null", [null, header, secret]],
    ["invalid_body", "undefined", [undefined, header, secret]],
    ["invalid_body", "a list of bytes", [[...Buffer.from(body)], header, secret]],
    ["invalid_body", "an ArrayBuffer", [new TextEncoder().encode(body).buffer, header, secret]],
    ["invalid_body", "an object that says it is bytes", [
      { [Symbol.toStringTag]: "Uint8Array", length: 0 },
      header,
      secret
    ]],
    ["signature_mismatch", "another body", [`${body}\n`, header, secret]],
    ["signature_mismatch", "another timestamp", [body, `t=${timestamp + 1},${v1}`, secret]],
    ["signature_mismatch", "another secret", [body, header, previousSecret]],
    ["signature_mismatch", "the secret with a newline", [body, header, `${secret}\n`]],
    ["signature_mismatch", "the secret without its prefix", [body, header, secret.slice("whsec_".length)]]
  ]

  for (const [reason, name, args] of cases) {
    it(`${reason}: ${name}`, async () => {
      const [rawBody, value, key, options = at(timestamp)] = args
      assert.deepEqual(await loose(rawBody, value, key, options), refused(reason))
    })
  }

  for (
    const written of [
      "",
      "-1",
      "+1",
      "01",
      "00",
      "1.5",
      "1e9",
      "0x1",
      "1_000",
      "9007199254740992",
      "1".repeat(400),
      "t"
    ]
  ) {
    it(`malformed_timestamp: "${written.slice(0, 20)}" is refused, even if signed as written`, async () => {
      const signed = (await sign(body, secret, timestamp)).replace(/^t=\d+/, `t=${written}`)
      assert.deepEqual(await verify(body, signed, secret, at(timestamp)), refused("malformed_timestamp"))
    })
  }

  it("invalid_body: bytes whose buffer was transferred are refused", async () => {
    const bytes = new TextEncoder().encode("")
    structuredClone(bytes.buffer, { transfer: [bytes.buffer] })
    const signedEmpty = await sign("", secret, timestamp)
    assert.deepEqual(await verify(bytes, signedEmpty, secret, at(timestamp)), refused("invalid_body"))
  })

  it("the receiver's own mistakes are reported first, then the header's, then the body's", async () => {
    assert.deepEqual(await loose(null, null, "", { tolerance: NaN }), refused("invalid_options"))
    assert.deepEqual(await loose(null, null, ""), refused("missing_secret"))
    assert.deepEqual(await loose(null, null, secret), refused("missing_header"))
    assert.deepEqual(await loose(null, "t=0,t=01", secret), refused("duplicate_timestamp"))
    assert.deepEqual(await loose(null, "t=01", secret), refused("malformed_timestamp"))
    assert.deepEqual(await loose(null, `t=1,${v1}`, secret), refused("invalid_body"))
  })
})

describe("arguments that throw when read", () => {
  const revoked = () => {
    const { proxy, revoke } = Proxy.revocable<Array<unknown>>([], {})
    revoke()
    return proxy
  }
  const trap = () =>
    new Proxy({}, {
      get: () => {
        throw new Error("looked at")
      },
      getPrototypeOf: () => {
        throw new Error("looked at")
      }
    })

  it("arguments that throw when read never make verify throw", async () => {
    for (const hostile of [revoked, trap]) {
      assert.deepEqual(await loose(hostile(), header, secret, at(timestamp)), refused("invalid_body"))
      assert.deepEqual(await loose(body, hostile(), secret, at(timestamp)), refused("malformed_header"))
      assert.deepEqual(await loose(body, header, hostile(), at(timestamp)), refused("missing_secret"))
      assert.deepEqual(await loose(body, header, secret, hostile()), refused("invalid_options"))
    }
    assert.deepEqual(await loose(), refused("missing_secret"))
  })
})
