import { assert, describe, it } from "vitest"
import { sign, type Verification, verify } from "../src/index.ts"
import { type Random, random } from "./random.ts"
import { vectors } from "./vectors.ts"

const { secret, timestamp } = vectors
const body = "{\"id\":\"evt_1\",\"object\":\"event\",\"text\":\"olá\"}"
const header = await sign(body, secret, timestamp)
const loose = verify as (...args: ReadonlyArray<unknown>) => Promise<Verification>
const visible = Array.from({ length: 94 }, (_, index) => String.fromCharCode(33 + index)).join("")

/** A value of any type that JavaScript has, at times with parts of a good call inside it. */
const anything = (source: Random, depth = 0): unknown => {
  const nested = () => depth < 2 ? anything(source, depth + 1) : null
  return source.pick<() => unknown>([
    () => undefined,
    () => null,
    () => source.below(2) === 0,
    () => source.pick([0, -0, -1, 1.5, NaN, Infinity, -Infinity, 2 ** 53, timestamp, timestamp * 1000]),
    () => source.pick([0n, BigInt(timestamp)]),
    () => Symbol("symbol"),
    () => source.text(source.below(40)),
    () => source.text(source.below(80), visible),
    () => source.pick(["", " ", "\0", "\ud800", "t", "v1", "__proto__", "[object Object]"]),
    () => Object(source.pick<unknown>([header, secret, body, 1, 1n])),
    () => source.bytes(source.below(40)),
    () => source.bytes(source.below(40)).buffer,
    () => new Uint16Array(source.below(4)),
    () => new DataView(new ArrayBuffer(source.below(4))),
    () => new Date(source.pick([0, NaN])),
    () => /t=/,
    () => () => nested(),
    () => Promise.resolve(nested()),
    () => Array.from({ length: source.below(4) }, nested),
    () => ({ [source.pick(["length", "t", "v1", "tolerance", "now", "then", "toString", "valueOf"])]: nested() }),
    () => new Map([[nested(), nested()]]),
    () => Object.create(null)
  ])()
}

/** Text that looks like a header: pairs of known and unknown names, joined well or badly. */
const headerLike = (source: Random): string => {
  const pair = (): string => {
    const name = source.pick(["t", "t", "v1", "v1", "v0", "T", "", "v2", " t", source.text(2)])
    const value = source.pick([
      `${timestamp}`,
      `${timestamp + source.below(1000) - 500}`,
      `0${timestamp}`,
      source.text(64, "0123456789abcdef"),
      source.text(64, "0123456789ABCDEF"),
      source.text(source.below(70), visible),
      source.text(source.below(20)),
      ""
    ])
    return `${name}${source.pick(["=", "=", "=", "", "==", ":"])}${value}`
  }
  return Array.from({ length: source.below(12) }, pair).join(source.pick([",", ",", ",", ", ", ";", ",,"]))
}

describe("arguments of any kind", () => {
  /** Refused with a reason: neither thrown, nor verified, nor anything else. */
  const assertRefused = async (args: ReadonlyArray<unknown>, round: number): Promise<void> => {
    const result = await loose(...args)
    assert.isTrue(result.ok === false && /^[a-z_]+$/.test(result.reason), `round ${round}`)
  }

  it("20,000 bodies, headers, secrets and options of any type never make verify throw", async () => {
    const source = random(3)
    for (let round = 0; round < 20_000; round++) {
      const args = [body, header, secret, { now: timestamp }].map((good) =>
        source.below(2) === 0 ? good : anything(source)
      )
      // At least one of the first three is certainly not what was signed.
      const spoiled = source.below(3)
      args[spoiled] = anything(source)
      await assertRefused(args, round)
    }
  })

  it("20,000 plausible headers over a good body and secret never verify by accident", async () => {
    const source = random(4)
    for (let round = 0; round < 20_000; round++) {
      await assertRefused([body, headerLike(source), secret, { now: timestamp }], round)
    }
  })

  it("2,000 good headers under any options verify or are refused, and never throw", async () => {
    const source = random(5)
    for (let round = 0; round < 2_000; round++) {
      const options = { now: anything(source), tolerance: anything(source) }
      assert.isBoolean((await loose(body, header, secret, options)).ok)
    }
  })
})

describe("round trip", () => {
  it("every signature verifies, as text and as bytes, for any body, secrets and time", async () => {
    const source = random(6)
    for (let round = 0; round < 2_000; round++) {
      const rawBody = source.below(2) === 0 ? source.text(source.below(300)) : source.bytes(source.below(300))
      const secrets = Array.from({ length: 1 + source.below(8) }, () => `whsec_${source.text(source.below(60))}`)
      const now = source.below(2 ** 40)
      const age = source.below(601) - 300
      const signedAt = Math.max(0, now - age)
      const signed = await sign(rawBody, secrets, signedAt)
      const has = source.below(2) === 0 ? source.pick(secrets) : secrets
      assert.deepEqual(await verify(rawBody, signed, has, { now }), { ok: true, timestamp: signedAt })
      const otherForm = typeof rawBody === "string" ? new TextEncoder().encode(rawBody) : rawBody
      assert.deepEqual(await verify(otherForm, signed, has, { now }), { ok: true, timestamp: signedAt })
    }
  })
})

describe("a single change", () => {
  const options = { now: timestamp }

  it("a changed bit, a missing byte or an additional byte anywhere in the body is detected", async () => {
    const good = new TextEncoder().encode(body)
    assert.isTrue((await verify(good, header, secret, options)).ok)
    const mismatch: Verification = { ok: false, reason: "signature_mismatch" }
    for (let index = 0; index < good.length; index++) {
      for (let bit = 0; bit < 8; bit++) {
        const changed = good.with(index, good[index]! ^ (1 << bit))
        assert.deepEqual(await verify(changed, header, secret, options), mismatch)
      }
      const shorter = Uint8Array.from([...good.subarray(0, index), ...good.subarray(index + 1)])
      assert.deepEqual(await verify(shorter, header, secret, options), mismatch)
      const longer = Uint8Array.from([...good.subarray(0, index), 0, ...good.subarray(index)])
      assert.deepEqual(await verify(longer, header, secret, options), mismatch)
    }
  })

  it("a changed character anywhere in the header is detected", async () => {
    const replacements = [...visible, " ", "\t", "\n", "\0", "é", ""]
    for (let index = 0; index < header.length; index++) {
      for (const replacement of replacements) {
        if (replacement !== header[index]) {
          const changed = header.slice(0, index) + replacement + header.slice(index + 1)
          assert.isFalse((await verify(body, changed, secret, options)).ok, changed)
        }
      }
    }
  })

  it("a changed bit, or a missing or additional character of the secret is detected", async () => {
    for (let index = 0; index < secret.length; index++) {
      for (let bit = 0; bit < 7; bit++) {
        const character = String.fromCharCode(secret.charCodeAt(index) ^ (1 << bit))
        const changed = secret.slice(0, index) + character + secret.slice(index + 1)
        assert.isFalse((await verify(body, header, changed, options)).ok)
      }
      assert.isFalse((await verify(body, header, secret.slice(0, index) + secret.slice(index + 1), options)).ok)
    }
    for (const changed of [`${secret}0`, `0${secret}`, `${secret}\n`, ` ${secret}`]) {
      assert.isFalse((await verify(body, header, changed, options)).ok, JSON.stringify(changed))
    }
  })
})
