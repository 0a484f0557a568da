import { assert, it } from "vitest"
import * as Core from "../src/index.ts"

it("the list of ports has every core module whose name ends in Store, the storage as a whole, the bytes of files, and nothing else", () => {
  const stores = Object.keys(Core).filter((name) => name.endsWith("Store"))
  assert.deepStrictEqual(Object.keys(Core.Ports.all).toSorted(), [...stores, "MediaBytes", "Storage"].toSorted())
  for (const [name, port] of Object.entries(Core.Ports.all)) {
    assert.match(port.key, new RegExp(`^@wac/core/(\\w+/)?${name}$`))
  }
})
