import { assert, it } from "@effect/vitest"
import { networkOf } from "../src/SourceAddress.ts"

it("an IPv4 address counts for itself, in any notation", () => {
  assert.strictEqual(networkOf("203.0.113.7"), "203.0.113.7")
  assert.strictEqual(networkOf("::ffff:203.0.113.7"), "203.0.113.7")
  assert.strictEqual(networkOf("::FFFF:cb00:7107"), "203.0.113.7")
})

it("the IPv6 addresses of one network customer count together", () => {
  const own = networkOf("2001:db8:1:2::1")
  for (const address of ["2001:db8:1:2:ffff:ffff:ffff:ffff", "2001:0DB8:0001:0002::7", "2001:db8:1:2:3:4:5:6%eth0"]) {
    assert.strictEqual(networkOf(address), own, address)
  }
  for (const address of ["2001:db8:1:3::1", "2001:db8::1", "::1", "2001:db8:1::2"]) {
    assert.notStrictEqual(networkOf(address), own, address)
  }
})

it("text that is not an address counts as it is", () => {
  for (const text of ["unknown", "", "::x", "1:2:3"]) assert.strictEqual(networkOf(text), text)
})
