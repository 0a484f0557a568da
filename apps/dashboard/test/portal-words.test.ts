/**
 * What the portal says of deliveries in each of its languages.
 */
import { assert, expect, it, vi } from "vitest"

/** The words of deliveries as pages in a language have them. */
const wordsIn = async (language: string) => {
  vi.resetModules()
  const { hostFields } = await import("../src/shell/HostFields.ts")
  hostFields.set("language", language)
  const { applyLanguage } = await import("../src/ui/Language.ts")
  await applyLanguage()
  const deliveries = await import("../src/webhooks/DeliveryWords.tsx")
  const rounds = await import("../src/webhooks/RoundWords.ts")
  return { ...deliveries, ...rounds }
}

const refused = { outcome: "status", statusCode: 503, message: "answered 503; only 200 counts" } as const

const lost = {
  outcome: "dns",
  statusCode: null,
  message: "example.com could not be looked up: it does not exist"
} as const

it("an attempt is told in English by the service’s words alone", async () => {
  const { attemptWords } = await wordsIn("en")
  assert.strictEqual(attemptWords(refused), "Answered 503; only 200 counts.")
  assert.strictEqual(attemptWords(lost), "Example.com could not be looked up: it does not exist.")
})

it("an attempt is told in other languages by its outcome, and by the service’s words where they say more", async () => {
  const es = await wordsIn("es")
  assert.strictEqual(es.attemptWords(refused), "El receptor respondió 503; solo cuenta 200.")
  expect(es.attemptWords(lost)).toMatchInlineSnapshot(
    `"No se encontró el nombre del receptor. (“Example.com could not be looked up: it does not exist.”)"`
  )
  const pt = await wordsIn("pt")
  assert.strictEqual(pt.attemptWords(refused), "O receptor respondeu 503; só 200 conta.")
  expect(pt.attemptWords(lost)).toMatchInlineSnapshot(
    `"O nome do receptor não foi encontrado. (“Example.com could not be looked up: it does not exist.”)"`
  )
})

it("delivering again, of which some is held, is one whole sentence in other languages", async () => {
  const es = await wordsIn("es")
  expect(es.begunWords(["pending", "held", "held"])).toMatchInlineSnapshot(
    `"1 está en camino; 2 quedan retenidas hasta que se reanude el webhook."`
  )
  const pt = await wordsIn("pt")
  expect(pt.begunWords(["pending", "held", "held"])).toMatchInlineSnapshot(
    `"1 está a caminho; 2 ficam retidas até o webhook ser retomado."`
  )
})
