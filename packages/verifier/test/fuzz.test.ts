import * as Extent from "@wac/testbed/Extent"
import { assert, describe, it } from "vitest"
import { type Receipt, receive, sign } from "../src/index.ts"
import { event, secret } from "./delivery.ts"
import { type Random, random } from "./random.ts"
import { vectors } from "./vectors.ts"

const { timestamp } = vectors
const good = new TextEncoder().encode(JSON.stringify(event))
const goodHeader = await sign(good, secret, timestamp)
const loose = receive as (...args: ReadonlyArray<unknown>) => Promise<Receipt>
const parts = [
  "t=",
  "v1=",
  "v0=",
  ",",
  ",,",
  "=",
  " ",
  "\0",
  "\n",
  "é",
  "\ud800",
  "t",
  `${timestamp}`,
  `t=${timestamp}`,
  "-1",
  "0x1",
  "1e9",
  "99999999999999999999",
  "__proto__=",
  goodHeader.slice(goodHeader.indexOf("v1=")),
  "0".repeat(64),
  "F".repeat(64),
  "x".repeat(5000),
  goodHeader
]

/** Parts of headers in any order, or a good one with a character changed, left out or doubled. */
const header = (source: Random): string => {
  if (source.below(4) > 0) {
    let made = ""
    for (let left = 1 + source.below(6); left > 0; left--) made += source.pick(parts)
    return made
  }
  const at = source.below(goodHeader.length)
  const there = source.pick(["", String.fromCharCode(source.below(256)), goodHeader.slice(0, at)])
  return goodHeader.slice(0, at) + there + goodHeader.slice(at + 1)
}

/** A good body with a few bytes changed and its end cut off, or a bit of any kind of value. */
const body = (source: Random): unknown => {
  if (source.below(8) === 0) {
    return source.pick<unknown>([
      undefined,
      null,
      0,
      NaN,
      "",
      "{}",
      [],
      {},
      event,
      new Map(),
      Symbol(),
      new ArrayBuffer(8)
    ])
  }
  const bytes = good.slice(0, source.below(good.length + 1))
  for (let left = source.below(4); left > 0 && bytes.length > 0; left--) {
    bytes[source.below(bytes.length)] = source.below(256)
  }
  return bytes
}

/** By WebCrypto each HMAC is two jobs for another thread; a million would take minutes. */
const made = Extent.of(100_000, process.env["HMAC"] === "web" ? 100_000 : 1_000_000)

describe(`${made} headers and bodies, none of which throws`, () => {
  // Refused unless it is the good one after all: a part of a header can be left as it was.
  const refuses = async (given: unknown, value: string) => {
    const receipt = await loose(given, { "x-service-signature": value }, secret, { now: timestamp })
    return receipt.ok
      ? given instanceof Uint8Array && Buffer.compare(given, good) === 0
      : receipt.message.length > 0
  }

  it.for([1, 2, 3, 4])("no header or body of this share throws (%i)", async (seed) => {
    const source = random(seed)
    for (let round = 0; round < made * 0.24; round++) {
      if (!await refuses(body(source), header(source))) assert.fail(`round ${round}`)
    }
  })

  it("no genuinely signed body throws, whatever its JSON or bytes", async () => {
    const source = random(9)
    const allowed = new Set(["malformed_json", "not_an_event", "other_envelope"])
    for (let round = 0; round < made / 25; round++) {
      const value = body(source)
      const bytes = value instanceof Uint8Array ? value : new TextEncoder().encode(`${JSON.stringify(value ?? null)}`)
      const receipt = await receive(bytes, { "x-service-signature": await sign(bytes, secret, timestamp) }, secret, {
        now: timestamp
      })
      if (!receipt.ok && !allowed.has(receipt.reason)) assert.fail(`round ${round}: ${receipt.reason}`)
    }
  })
})
