import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import * as Passkey from "../../src/people/Passkey.ts"

const publicUrl = new URL("https://wac.example.com/below/")

describe("the relying party of passkeys", () => {
  it("with a configured address it is that address, whatever the page says it is", () => {
    for (const origin of [undefined, "https://wac.example.com", "https://wac.example.org", "http://localhost:8080"]) {
      assert.deepStrictEqual(Passkey.relyingPartyOf({ publicUrl, isGiven: true, origin }), {
        id: "wac.example.com",
        origin: "https://wac.example.com"
      })
    }
  })

  it("without a configured address it is the page's localhost, and no other name", () => {
    const of = (origin: string | undefined) => Passkey.relyingPartyOf({ publicUrl, isGiven: false, origin })
    assert.deepStrictEqual(of("http://localhost:8080"), { id: "localhost", origin: "http://localhost:8080" })
    assert.deepStrictEqual(of("http://wac.localhost"), { id: "wac.localhost", origin: "http://wac.localhost" })
    for (
      const origin of [undefined, "null", "https://wac.example.com", "http://127.0.0.1:8080", "http://notlocalhost"]
    ) {
      assert.isUndefined(of(origin), origin)
    }
  })

  it("an address without a domain name has none", () => {
    for (const url of ["http://127.0.0.1:8080", "http://[::1]:8080", "https://203.0.113.7"]) {
      const address = { publicUrl: new URL(url), isGiven: true, origin: url }
      assert.isUndefined(Passkey.relyingPartyOf(address), url)
    }
  })
})

describe("the challenge of a passkey", () => {
  const clientData = (text: string) => Buffer.from(text).toString("base64url")

  it("the token comes back from what a browser reports", () => {
    const token = Redacted.make("a token")
    const challenge = Passkey.challengeOf(token)
    assert.match(challenge, /^[A-Za-z0-9_-]+$/)
    const found = Passkey.tokenIn(clientData(JSON.stringify({ type: "webauthn.get", challenge, origin: "x" })))
    assert.strictEqual(found && Redacted.value(found), "a token")
  })

  it("anything else names none", () => {
    const wrong = ["", "{", "null", "[]", "{}", "{\"challenge\":1}", "{\"challenge\":\"not base64url!\"}"]
    for (const text of wrong) assert.isUndefined(Passkey.tokenIn(clientData(text)), text)
    assert.isUndefined(Passkey.tokenIn("not base64url!"))
  })
})
