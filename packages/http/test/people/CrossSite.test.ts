import { assert, describe, it } from "vitest"
import { type Claims, refused } from "../../src/people/CrossSite.ts"

const claims = (own: Partial<Claims>): Claims => ({
  site: undefined,
  origin: undefined,
  scheme: "http",
  host: "127.0.0.1:8080",
  ...own
})

describe("with a configured public address", () => {
  const own = { origin: "https://wac.example", isGiven: true }

  it.each<[string, Partial<Claims>, ReturnType<typeof refused>]>([
    ["a page of ours passes", { site: "same-origin", origin: own.origin }, undefined],
    ["a browser that sends no Sec-Fetch-Site passes by its Origin", { origin: own.origin }, undefined],
    ["a program passes without an Origin", { site: "same-origin" }, undefined],
    ["a matching Origin does not overrule cross-site", { site: "cross-site", origin: own.origin }, "Sec-Fetch-Site"],
    ["nor same-site", { site: "same-site", origin: own.origin }, "Sec-Fetch-Site"],
    ["nor what a person typed", { site: "none", origin: own.origin }, "Sec-Fetch-Site"],
    ["same-origin does not overrule another Origin", { site: "same-origin", origin: "https://evil.example" }, "Origin"],
    ["the scheme counts", { origin: "http://wac.example" }, "Origin"],
    ["the port counts", { origin: "https://wac.example:8443" }, "Origin"],
    ["the request's own name is not asked", { origin: "http://evil.example", host: "evil.example" }, "Origin"],
    ["nor its own address", { origin: "http://127.0.0.1:8080" }, "Origin"],
    ["a request that says nothing is refused", {}, "Sec-Fetch-Site"]
  ])("%s", (_, said, expected) => {
    assert.strictEqual(refused(claims(said), own), expected)
  })
})

describe("without a configured public address", () => {
  const own = { origin: "http://127.0.0.1:8080", isGiven: false }

  it.each<[string, Partial<Claims>, ReturnType<typeof refused>]>([
    ["an address passes that is the request's", { origin: "http://10.0.0.7:8080", host: "10.0.0.7:8080" }, undefined],
    ["one of IPv6 too", { origin: "http://[fd00::7]:8080", host: "[fd00::7]:8080" }, undefined],
    ["localhost passes", { origin: "http://localhost:8080", host: "localhost:8080" }, undefined],
    ["a default port may be said", { origin: "http://localhost", host: "localhost:80" }, undefined],
    ["another address does not", { origin: "http://10.0.0.8:8080", host: "10.0.0.7:8080" }, "Origin"],
    ["a name does not: it may be rebound", { origin: "http://evil.example", host: "evil.example" }, "Origin"],
    ["the scheme counts", { origin: "https://localhost:8080", host: "localhost:8080" }, "Origin"],
    [
      "it is the proxy's that is believed",
      { origin: "https://localhost:8080", host: "localhost:8080", scheme: "https" },
      undefined
    ],
    [
      "a matching Origin does not overrule cross-site",
      { site: "cross-site", origin: "http://localhost:8080", host: "localhost:8080" },
      "Sec-Fetch-Site"
    ],
    [
      "a browser that says same-origin is believed, behind a proxy whose name is not told",
      { site: "same-origin", origin: "https://wac.example", host: "wac.example" },
      undefined
    ],
    ["no Host is no match", { origin: "http://localhost:8080", host: undefined }, "Origin"],
    ["an Origin that is none is no match", { origin: "null", host: undefined }, "Origin"]
  ])("%s", (_, said, expected) => {
    assert.strictEqual(refused(claims(said), own), expected)
  })
})
