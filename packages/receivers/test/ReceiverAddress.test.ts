import { assert, describe, it } from "@effect/vitest"
import { ReceiverGuard } from "@wac/core"
import { Effect, Fiber, Layer, Result, Schema } from "effect"
import { TestClock } from "effect/testing"
import { type Cidr, judge, judgeAll, judgeHost, parseCidrs } from "../src/ReceiverAddress.ts"
import { layer, type ReceiverRules } from "../src/ReceiverGuardDns.ts"

const cidrs = (text: string): ReadonlyArray<Cidr> => Result.getOrThrow(parseCidrs(text))

const everything = cidrs("0.0.0.0/0, ::/0")

/** What a host is, "allowed" or why not. */
const verdict = (address: string, allowed: ReadonlyArray<Cidr> = []): string => {
  const judged = judge(address, allowed)
  return judged.allowed ? "allowed" : judged.reason
}

const publicAddresses = [
  "1.1.1.1",
  "8.8.8.8",
  "93.184.216.34",
  "9.255.255.255",
  "11.0.0.0",
  "100.63.255.255",
  "100.128.0.0",
  "126.255.255.255",
  "128.0.0.1",
  "172.15.255.255",
  "172.32.0.0",
  "192.167.255.255",
  "192.169.0.0",
  "198.17.255.255",
  "198.20.0.0",
  "223.255.255.255",
  "::ffff:8.8.8.8",
  "2606:4700:4700::1111",
  "2001:4860:4860::8888",
  "2a00:1450:4001:800::200e",
  "2400:cb00::1"
]

const refusedAddresses: ReadonlyArray<readonly [address: string, why: string]> = [
  ["0.0.0.0", "the unspecified address"],
  ["0.1.2.3", "the unspecified address"],
  ["127.0.0.1", "a loopback address"],
  ["127.255.255.254", "a loopback address"],
  ["10.0.0.1", "a private address"],
  ["10.255.255.255", "a private address"],
  ["172.16.0.1", "a private address"],
  ["172.31.255.255", "a private address"],
  ["192.168.0.1", "a private address"],
  ["100.64.0.1", "an address of a carrier's network"],
  ["100.127.255.255", "an address of a carrier's network"],
  ["192.0.0.1", "an address that is not public"],
  ["192.0.2.1", "an address that is not public"],
  ["192.31.196.1", "an address that is not public"],
  ["192.52.193.1", "an address that is not public"],
  ["192.88.99.1", "an address that is not public"],
  ["192.175.48.1", "an address that is not public"],
  ["198.18.0.1", "an address that is not public"],
  ["198.19.255.255", "an address that is not public"],
  ["198.51.100.1", "an address that is not public"],
  ["203.0.113.1", "an address that is not public"],
  ["224.0.0.1", "a multicast address"],
  ["239.255.255.255", "a multicast address"],
  ["240.0.0.1", "an address that is not public"],
  ["255.255.255.255", "the broadcast address"],
  ["::", "the unspecified address"],
  ["::1", "a loopback address"],
  ["::ffff:127.0.0.1", "a loopback address"],
  ["::ffff:7f00:1", "a loopback address"],
  ["::ffff:10.0.0.1", "a private address"],
  ["::127.0.0.1", "a loopback address"],
  ["::7f00:1", "an address that is not public"],
  ["::ffff:0:7f00:1", "an address that is not public"],
  ["64:ff9b::7f00:1", "an address that is not public"],
  ["64:ff9b:1::a00:1", "an address that is not public"],
  ["100::1", "an address that is not public"],
  ["100:0:0:1::1", "an address that is not public"],
  ["2001::1", "an address that is not public"],
  ["2001:2::1", "an address that is not public"],
  ["2001:3::1", "an address that is not public"],
  ["2001:4:112::1", "an address that is not public"],
  ["2001:10::1", "an address that is not public"],
  ["2001:20::1", "an address that is not public"],
  ["2001:30::1", "an address that is not public"],
  ["2001:db8::1", "an address that is not public"],
  ["2002:7f00:1::1", "an address that is not public"],
  ["2620:4f:8000::1", "an address that is not public"],
  ["3fff::1", "an address that is not public"],
  ["4000::1", "an address that is not public"],
  ["5f00::1", "an address that is not public"],
  ["fc00::1", "a private address"],
  ["fdff::1", "a private address"],
  ["fec0::1", "an address that is not public"],
  ["ff02::1", "a multicast address"]
]

const metadataAddresses = [
  "169.254.169.254",
  "169.254.170.2",
  "169.254.0.1",
  "::ffff:169.254.169.254",
  "::ffff:a9fe:a9fe",
  "168.63.129.16",
  "::ffff:168.63.129.16",
  "100.100.100.200",
  "192.0.0.192",
  "fe80::1",
  "fe80::1%eth0",
  "fe80::a9fe:a9fe",
  "fd00:ec2::254",
  "fd00:ec2::23",
  "fd20:ce::254",
  "fd00:42::42",
  "fd00:a9fe:a9fe::1",
  // the same through a translator
  "64:ff9b::a9fe:a9fe",
  "64:ff9b::a83f:8110",
  "2002:a9fe:a9fe::1",
  "::a9fe:a9fe",
  "::ffff:0:a9fe:a9fe",
  "64:ff9b:1::a9fe:a9fe",
  "64:ff9b:1:a9fe:a9:fe00::",
  "64:ff9b:1:a9:fe:a9fe::",
  "64:ff9b:1:0:a9:fea9:fe00::",
  // the same as a Teredo client, and as its server
  "2001:0:4136:e378:8000:63bf:5601:5601",
  "2001:0:a9fe:a9fe:8000:63bf:3fff:fdd2"
]

describe("judge", () => {
  it.each(publicAddresses)("%s is allowed", (address) => {
    assert.strictEqual(verdict(address), "allowed")
  })

  it.each(refusedAddresses)("%s is refused: %s", (address, why) => {
    assert.strictEqual(verdict(address), why)
    assert.strictEqual(verdict(address, everything), "allowed")
  })

  it.each(metadataAddresses)("%s is refused regardless of the allowed ranges", (address) => {
    assert.notStrictEqual(verdict(address), "allowed")
    assert.strictEqual(verdict(address, everything), "a link-local or metadata address")
  })

  it.each(["", "localhost", "1", "127.1", "0x7f.0.0.1", "0177.0.0.1", "010.0.0.1", "1.2.3.4.", "[::1]", "1.2.3.4/8"])(
    "%j is refused: not an IP address",
    (text) => {
      assert.strictEqual(verdict(text, everything), "not an IP address")
    }
  )

  it("exactly the given ranges are allowed", () => {
    const allowed = cidrs("10.1.0.0/16,fd12::/16")
    assert.strictEqual(verdict("10.1.255.255", allowed), "allowed")
    assert.strictEqual(verdict("::ffff:10.1.0.1", allowed), "allowed")
    assert.strictEqual(verdict("fd12::1", allowed), "allowed")
    assert.strictEqual(verdict("10.2.0.0", allowed), "a private address")
    assert.strictEqual(verdict("127.0.0.1", allowed), "a loopback address")
    assert.strictEqual(verdict("0.0.0.0", cidrs("127.0.0.0/8")), "the unspecified address")
    assert.strictEqual(verdict("8.8.8.8", allowed), "allowed")
  })

  it("a translated address is judged by its target if its prefix is allowed", () => {
    const allowed = cidrs("64:ff9b::/96")
    assert.strictEqual(verdict("64:ff9b::808:808", allowed), "allowed")
    assert.strictEqual(verdict("64:ff9b::a00:1", allowed), "a private address")
    assert.strictEqual(verdict("64:ff9b::a00:1", cidrs("64:ff9b::/96,10.0.0.0/8")), "allowed")
  })

  it.prop(
    "a mapped address is judged as its IPv4 address",
    { number: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 0xffffffff })) },
    ({ number }) => {
      const address = [24, 16, 8, 0].map((bits) => number >>> bits & 0xff).join(".")
      for (const allowed of [[], everything]) {
        assert.strictEqual(verdict(`::ffff:${address}`, allowed), verdict(address, allowed))
      }
    }
  )

  it("a name is refused for one bad address among good ones", () => {
    assert.isTrue(judgeAll(["8.8.8.8", "2606:4700:4700::1111"], []).allowed)
    assert.deepStrictEqual(judgeAll(["8.8.8.8", "10.0.0.1"], []), { allowed: false, reason: "a private address" })
  })
})

describe("parseCidrs", () => {
  it("ranges and single addresses are read", () => {
    assert.strictEqual(cidrs("").length, 0)
    assert.strictEqual(cidrs(" 10.0.0.0/8 ,192.168.1.7, ::1/128,").length, 3)
    assert.strictEqual(verdict("192.168.1.7", cidrs("192.168.1.7")), "allowed")
    assert.strictEqual(verdict("192.168.1.8", cidrs("192.168.1.7")), "a private address")
    assert.strictEqual(verdict("127.9.9.9", cidrs("127.0.0.1/8")), "allowed")
  })

  it.each([
    "true",
    "localhost",
    "10",
    "10.0.0.0/",
    "10.0.0.0/33",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10.0.0.0/255.0.0.0",
    "010.0.0.0/8",
    "fd00::/129",
    "fe80::1%eth0/64",
    "::ffff:10.0.0.0/104",
    "10.0.0.0/8 192.168.0.0/16"
  ])("%j is refused and named", (entry) => {
    const parsed = parseCidrs(`127.0.0.0/8,${entry}`)
    assert.isTrue(Result.isFailure(parsed))
    if (Result.isFailure(parsed)) {
      assert.strictEqual(parsed.failure.entry, entry)
      assert.include(parsed.failure.message, entry)
    }
  })
})

describe("judgeHost", () => {
  const host = (url: string, allowed = ""): string => {
    const judged = judgeHost(new URL(url).hostname, cidrs(allowed))
    return judged.allowed ? "allowed" : judged.reason
  }

  it.each([
    ["http://127.0.0.1", "a loopback address"],
    ["http://2130706433", "a loopback address"],
    ["http://0x7f.1", "a loopback address"],
    ["http://0177.0.0.1", "a loopback address"],
    ["http://①②⑦.0.0.1", "a loopback address"],
    ["http://127.0.0.1.", "a loopback address"],
    ["http://0", "the unspecified address"],
    ["http://[::1]", "a loopback address"],
    ["http://[::ffff:127.0.0.1]", "a loopback address"],
    ["http://[::127.0.0.1]", "an address that is not public"],
    ["http://169。254。169。254", "a link-local or metadata address"],
    ["http://localhost", "a name of the server itself"],
    ["http://LOCALHOST.", "a name of the server itself"],
    ["http://localhost..", "a name of the server itself"],
    ["http://a.b.localhost", "a name of the server itself"],
    ["http://printer.local", "a name of a private network"],
    ["http://db.internal.", "a name of a private network"],
    ["http://nas.home.arpa", "a name of a private network"],
    ["http://metadata.google.internal", "the name of a metadata service"],
    ["http://metadata.google.internal.", "the name of a metadata service"]
  ])("%s is refused: %s", (url, why) => {
    assert.strictEqual(host(url), why)
  })

  it.each([
    "https://example.com",
    "https://example.com.",
    "https://notlocalhost",
    "https://localhost.example.com",
    "https://internal.example.com",
    "https://bücher.example",
    "https://8.8.8.8",
    "https://[2606:4700:4700::1111]"
  ])("%s is left to the DNS lookup", (url) => {
    assert.strictEqual(host(url), "allowed")
  })

  it("private names are allowed only with allowed ranges", () => {
    assert.strictEqual(host("http://localhost:8080", "127.0.0.0/8"), "allowed")
    assert.strictEqual(host("http://localhost", "::1"), "allowed")
    assert.strictEqual(host("http://localhost", "10.0.0.0/8"), "a name of the server itself")
    assert.strictEqual(host("http://host.docker.internal", "172.16.0.0/12"), "allowed")
    assert.strictEqual(host("http://metadata.google.internal", "0.0.0.0/0,::/0"), "the name of a metadata service")
  })
})

describe("ReceiverGuardDns", () => {
  const check = (url: string, rules: Partial<ReceiverRules>) =>
    ReceiverGuard.ReceiverGuard.use((guard) => Effect.result(guard.check(new URL(url)))).pipe(
      Effect.provide(layer({
        allowInsecure: false,
        allowedCidrs: [],
        lookup: () => Promise.reject(new Error("not asked for")),
        ...rules
      }))
    )

  it.effect("an address is refused with the field and the rule", () =>
    Effect.gen(function*() {
      const checked = yield* check("https://10.0.0.1/hook", {})
      assert.isTrue(Result.isFailure(checked))
      if (Result.isFailure(checked)) {
        assert.strictEqual(checked.failure.code, "invalid_body")
        assert.strictEqual(checked.failure.reason, "invalid_field")
        assert.strictEqual(checked.failure.param, "url")
        assert.strictEqual(
          checked.failure.message,
          "url must lead to a public address, but its host is a private address"
        )
      }
    }))

  it.effect("a name with a forbidden address is refused without revealing the address", () =>
    Effect.gen(function*() {
      const checked = yield* check("https://hooks.example", { lookup: async () => ["93.184.216.34", "10.9.8.7"] })
      assert.isTrue(Result.isFailure(checked))
      if (Result.isFailure(checked)) {
        assert.include(checked.failure.message, "leads to a private address")
        assert.notInclude(checked.failure.message, "10.9.8.7")
      }
    }))

  it.effect("a public name, an allowed address and a name that does not resolve yet are accepted", () =>
    Effect.gen(function*() {
      const allowedCidrs = cidrs("127.0.0.0/8,::1")
      assert.isTrue(Result.isSuccess(yield* check("https://hooks.example", { lookup: async () => ["93.184.216.34"] })))
      assert.isTrue(Result.isSuccess(yield* check("https://hooks.example", {})))
      assert.isTrue(Result.isSuccess(yield* check("http://127.0.0.1:8080/", { allowedCidrs })))
      assert.isTrue(Result.isSuccess(yield* check("https://8.8.8.8/", {})))
    }))

  it.effect("localhost is accepted if a loopback address is allowed", () =>
    Effect.gen(function*() {
      const guard = yield* ReceiverGuard.ReceiverGuard
      yield* guard.check(new URL("http://localhost:8080/"))
    }).pipe(Effect.provide(layer({ allowInsecure: true, allowedCidrs: cidrs("127.0.0.0/8") }))))

  it.effect("a check does not wait for silent name servers", () =>
    Effect.gen(function*() {
      const asked = Promise.withResolvers<void>()
      const lookup = () => {
        asked.resolve()
        return new Promise<never>(() => {})
      }
      const checking = yield* Effect.forkChild(check("https://hooks.example", { lookup }))
      yield* Effect.promise(() => asked.promise)
      yield* TestClock.adjust("2 seconds")
      assert.isTrue(Result.isSuccess(yield* Fiber.join(checking)))
    }))

  it.effect("the guard reports whether http is allowed", () =>
    Effect.gen(function*() {
      for (const allowInsecure of [true, false]) {
        const guard = yield* ReceiverGuard.ReceiverGuard.pipe(
          Effect.provide(Layer.fresh(layer({ allowInsecure, allowedCidrs: [] })))
        )
        assert.strictEqual(guard.allowInsecure, allowInsecure)
      }
    }))
})
