import { assert, it } from "@effect/vitest"
import type { PhoneNumberId } from "../../src/Id.ts"
import { isFrom, maySend, networkIssue, networksOf, unbound } from "../../src/keys/KeyBinding.ts"

it("a network is given as a CIDR or a single address, and anything else is refused with a reason", () => {
  for (
    const good of ["203.0.113.7", "203.0.113.0/24", "0.0.0.0/0", "2001:db8::/32", "2001:db8::1", "::/0", "10.0.0.0/8"]
  ) {
    assert.isUndefined(networkIssue(good), good)
  }
  for (
    const bad of [
      "",
      " 10.0.0.0/8",
      "10.0.0.0/8 ",
      "10.0.0.0/",
      "10.0.0.0/33",
      "10.0.0.0/-1",
      "10.0.0.0/08",
      "10.0.0.0/8/8",
      "010.0.0.0/8",
      "10.0.0",
      "10.0.0.0/255.0.0.0",
      "10.0.0.1/8",
      "2001:db8::/129",
      "2001:db8::1/32",
      "fe80::1%eth0",
      "[::1]",
      "localhost",
      "203.0.113.7,203.0.113.8"
    ]
  ) {
    assert.isString(networkIssue(bad), bad)
  }
})

it("a network of IPv4-mapped addresses is refused, since such clients are judged as IPv4", () => {
  assert.include(networkIssue("::ffff:203.0.113.7"), "IPv4")
  assert.include(networkIssue("::ffff:0:0/96"), "IPv4")
})

it("neither spelling, order nor repetition matters to the networks of a key", () => {
  assert.deepStrictEqual(networksOf(["2001:DB8:0::/32", "203.0.113.7", "203.0.113.7/32", "10.0.0.0/8"]), [
    "10.0.0.0/8",
    "2001:db8::/32",
    "203.0.113.7/32"
  ])
})

it("a client is judged by its address, IPv4-mapped as IPv4", () => {
  const networks = networksOf(["203.0.113.0/24", "2001:db8::/32"])
  for (
    const inside of [
      "203.0.113.0",
      "203.0.113.255",
      "::ffff:203.0.113.9",
      "::FFFF:cb00:7109",
      "2001:db8::1",
      "2001:db8:ffff::"
    ]
  ) {
    assert.isTrue(isFrom(networks, inside), inside)
  }
  for (
    const outside of [
      "203.0.112.255",
      "203.0.114.0",
      "::ffff:203.0.114.0",
      "::203.0.113.9",
      "64:ff9b::203.0.113.9",
      "2001:db9::",
      "::1",
      "unknown",
      "",
      undefined
    ]
  ) {
    assert.isFalse(isFrom(networks, outside), outside)
  }
})

it("the widest IPv4 network holds every IPv4 client and no IPv6 client, and the widest IPv6 network the reverse", () => {
  assert.isTrue(isFrom(["0.0.0.0/0"], "::ffff:198.51.100.1"))
  assert.isFalse(isFrom(["0.0.0.0/0"], "2001:db8::1"))
  assert.isTrue(isFrom(["::/0"], "2001:db8::1"))
  assert.isFalse(isFrom(["::/0"], "198.51.100.1"))
})

it("a key that is bound to no network is used from anywhere, also where the client's address is not known", () => {
  assert.isTrue(isFrom(unbound.allowedCidrs, "198.51.100.1"))
  assert.isTrue(isFrom(unbound.allowedCidrs, undefined))
})

it("a key that is bound to phone numbers sends from these alone", () => {
  const [one, two] = ["pn_1" as PhoneNumberId, "pn_2" as PhoneNumberId]
  assert.isTrue(maySend(unbound.phoneNumberIds, one))
  assert.isTrue(maySend([one], one))
  assert.isFalse(maySend([one], two))
})
