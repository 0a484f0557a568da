/**
 * What a search text stands for.
 */
import { assert, it } from "@effect/vitest"
import { soughtMessages } from "../src/ui/Sought.ts"

it("digits without a mark are read as a number, and kept as typed because they may be a reference", () => {
  assert.deepStrictEqual(soughtMessages("4500012345"), { to: "+4500012345", typed: "4500012345" })
  assert.deepStrictEqual(soughtMessages("0045 00012345"), { to: "+4500012345", typed: "0045 00012345" })
})

it("a number with a plus, a user id, a provider's id and any other text each stand for one thing", () => {
  assert.deepStrictEqual(soughtMessages("+45 0001 2345"), { to: "+4500012345" })
  assert.deepStrictEqual(soughtMessages("wamid.HBg"), { provider: "wamid.HBg" })
  assert.deepStrictEqual(soughtMessages("order-1042"), { reference: "order-1042" })
  assert.deepStrictEqual(soughtMessages("0000012345"), { reference: "0000012345" })
  assert.deepStrictEqual(soughtMessages(undefined), {})
})
