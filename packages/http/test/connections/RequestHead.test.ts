import { assert, describe, it } from "vitest"
import { refusal } from "../../src/connections/RequestHead.ts"

const head = (httpVersion: string, ...hosts: ReadonlyArray<string>) => ({
  httpVersion,
  rawHeaders: ["Accept", "host", ...hosts.flatMap((host) => ["Host", host]), "X-Host", "a b"]
})

describe("the head of a request", () => {
  it.each([
    "localhost",
    "localhost:8080",
    "127.0.0.1:65535",
    "[::1]:8080",
    "[::ffff:127.0.0.1]",
    "WAC.example",
    "a_b.internal"
  ])("a head with the Host %s is valid", (host) => {
    for (const version of ["1.0", "1.1"]) assert.isUndefined(refusal(head(version, host)))
  })

  it.each(["", "a b", "a/b", "a,b", "user@host", "host:", "host:65536", "host:8080:1", "[::1", "[::x]", "ö", "a?b"])(
    "a head with the Host %j is refused",
    (host) => {
      assert.strictEqual(refusal(head("1.1", host))?.param, "Host")
      assert.strictEqual(refusal(head("1.0", host))?.param, "Host")
    }
  )

  it("a request with two Host headers, even equal ones, or without one is refused, except HTTP/1.0 without one", () => {
    assert.strictEqual(refusal(head("1.1", "a", "a"))?.param, "Host")
    assert.strictEqual(refusal({ httpVersion: "1.0", rawHeaders: ["HOST", "a", "host", "b"] })?.param, "Host")
    assert.strictEqual(refusal(head("1.1"))?.param, "Host")
    assert.isUndefined(refusal(head("1.0")))
  })

  it.each(["0.9", "2.0", "1.2", "3.0"])("a head with HTTP/%s is refused", (version) => {
    assert.strictEqual(refusal(head(version, "localhost"))?.reason, "invalid_field")
  })
})
