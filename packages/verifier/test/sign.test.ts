import { assert, describe, it } from "vitest"
import { sign, SIGNATURE_HEADER, verify } from "../src/index.ts"
import { rejection } from "./rejection.ts"
import { vectors } from "./vectors.ts"

const { previousSecret, secret, timestamp } = vectors

describe("sign", () => {
  it("the header has the specified name", () => {
    assert.strictEqual(SIGNATURE_HEADER, "X-Service-Signature")
  })

  it("the header has t first, no spaces, and 64 lower-case hexadecimal digits", async () => {
    assert.match(await sign("{}", secret, timestamp), new RegExp(`^t=${timestamp},v1=[0-9a-f]{64}$`))
  })

  it("the timestamp defaults to the current second", async () => {
    const before = Math.floor(Date.now() / 1000)
    const header = await sign("{}", secret)
    const result = await verify("{}", header, secret)
    assert.isTrue(result.ok && result.timestamp >= before && result.timestamp <= Math.floor(Date.now() / 1000))
  })

  it("the header has one v1 for every secret, in the given order", async () => {
    const [newest, oldest] = await Promise.all([sign("{}", secret, timestamp), sign("{}", previousSecret, timestamp)])
    const v1 = (header: string) => header.slice(header.indexOf("v1="))
    const both = await sign("{}", [secret, previousSecret], timestamp)
    assert.strictEqual(both, `t=${timestamp},${v1(newest)},${v1(oldest)}`)
  })

  it("sign uses the body as it is at the time of the call", async () => {
    const body = new TextEncoder().encode("before")
    const signing = sign(body, secret, timestamp)
    body.fill(0)
    assert.strictEqual(await signing, await sign("before", secret, timestamp))
  })

  it("sign accepts as many secrets as a verifier, and no more", async () => {
    const secrets = Array.from({ length: 9 }, (_, index) => `whsec_${index}`)
    const header = await sign("{}", secrets.slice(0, 8), timestamp)
    assert.isTrue((await verify("{}", header, "whsec_7", { now: timestamp })).ok)
    assert.instanceOf(await rejection(sign("{}", secrets, timestamp)), RangeError)
  })

  it("sign rejects unusable arguments, without revealing a secret", async () => {
    const loose = sign as (...args: ReadonlyArray<unknown>) => Promise<string>
    const holes = [secret]
    holes.length = 2
    for (const bad of ["", " \n", undefined, null, 7, {}, [], [""], [secret, ""], [secret, undefined], holes]) {
      const error = await rejection(loose("{}", bad, timestamp))
      assert.instanceOf(error, TypeError)
      assert.notInclude(String(error), secret)
    }
    for (const bad of [undefined, null, 7, {}, [], new ArrayBuffer(2), new DataView(new ArrayBuffer(2))]) {
      assert.instanceOf(await rejection(loose(bad, secret, timestamp)), TypeError)
    }
    for (const bad of [NaN, Infinity, -1, 1.5, 2 ** 53, "1", null, 1n]) {
      assert.instanceOf(await rejection(loose("{}", secret, bad)), RangeError)
    }
  })
})
