import { assert, it } from "@effect/vitest"
import { BodyNames } from "../src/index.ts"

it("the names of fields in bodies are those of the API on the wire, and contain no name that a caller chooses", () => {
  const names = BodyNames.find()
  for (
    const name of ["to", "type", "template", "bodyParams", "preview_url", "client_reference", "messages", "send_at"]
  ) {
    assert.isTrue(names.has(name), name)
  }
  for (const name of ["clientReference", "sendAt", "favourite_colour", "__proto__"]) {
    assert.isFalse(names.has(name), name)
  }
  assert.isBelow(names.size, 500)
})
