import { assert, it } from "@effect/vitest"
import { languageOf } from "../../src/people/PortalLanguage.ts"

it("the language is the one that the link names, and English for a link that names none of the portal's", () => {
  assert.strictEqual(languageOf("es", ["pt-BR"]), "es")
  assert.strictEqual(languageOf("en", ["pt-BR"]), "en")
  for (const choice of [null, "", "fr", "ES", "pt-BR", "__proto__"]) {
    assert.strictEqual(languageOf(choice, ["es"]), "en")
  }
})

it("auto is the first of the visitor's languages that the portal has, whatever the region, and else English", () => {
  assert.strictEqual(languageOf("auto", ["de-AT", "pt-PT", "es"]), "pt")
  assert.strictEqual(languageOf("auto", ["ES-419"]), "es")
  assert.strictEqual(languageOf("auto", ["de", "english"]), "en")
  assert.strictEqual(languageOf("auto", ["est", "de"]), "en")
  assert.strictEqual(languageOf("auto", []), "en")
})
