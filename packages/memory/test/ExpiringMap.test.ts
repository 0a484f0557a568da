import { assert, it } from "@effect/vitest"
import { ExpiringMap } from "../src/ExpiringMap.ts"

it("dead entries are dropped, and no live one is lost", () => {
  const map = new ExpiringMap<number, number>((deadAt, now) => deadAt <= now)
  for (let now = 0; now < 100_000; now++) {
    map.set(now, now + 1000, now)
    assert.isAtMost(map.size, 2100)
  }
  for (let key = 99_000; key < 100_000; key++) assert.strictEqual(map.get(key), key + 1000)
})
