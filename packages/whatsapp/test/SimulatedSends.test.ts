import { assert, describe, it } from "@effect/vitest"
import { Template } from "@wac/core"
import type { CloudApi } from "@wac/simulator"
import { KindFixture } from "@wac/testkit"
import { Effect } from "effect"
import { messageId, send, template, text, to } from "./samples.ts"
import { simulated } from "./simulation.ts"

type CloudApiComponents = NonNullable<Parameters<CloudApi.CloudApi["changeTemplate"]>[0]["components"]>

/** What the simulated account has with a header or a button that needs a value of its own. */
const needsMore = new Set(["named_header", "picture_offer", "track_parcel"])

describe("on the simulated Cloud API", () => {
  it.live("the first number is the one of the configuration", () =>
    Effect.gen(function*() {
      const { api, provider } = yield* simulated()
      yield* api.changeNumber(api.identity.numbers[0].id, { whatsapp_business_manager_messaging_limit: "TIER_250" })
      assert.deepStrictEqual(yield* provider.firstNumber, {
        phoneNumber: "+15550783881",
        providerNumberId: api.identity.numbers[0].id,
        providerAccountId: api.identity.account,
        learned: { tier: "standard", messagingLimit: 250, quality: "green" }
      })
    }))

  it.live("the list of templates is whole, over pages of any size", () =>
    Effect.gen(function*() {
      const { api, number, provider } = yield* simulated()
      for (let i = 0; i < 200; i++) {
        yield* api.changeTemplate({ name: `more_${i}`, language: "en_US", status: "APPROVED" })
      }
      const listed = yield* provider.templates(number)
      const expected = (yield* api.templates).map(({ language, name }) => `${name} ${language}`)
      assert.isAbove(expected.length, 200)
      assert.sameMembers(listed.map(({ language, name }) => `${name} ${language}`), expected)
    }))

  it.live("a text and every template that values for its body fill are accepted as they are posted", () =>
    Effect.gen(function*() {
      const { number, provider } = yield* simulated()
      assert.strictEqual((yield* provider.send(send(text, { sender: number })))._tag, "Accepted")
      const formats = new Set<string>()
      for (const found of yield* provider.templates(number)) {
        if (found.status !== "approved") continue
        const known: Template.Template = { ...template, ...found, variables: Template.variablesOf(found.components) }
        const { language, name } = known
        const bodyParams = known.variables.map((variable) => `value of ${variable}`)
        const outcome = yield* provider.send(
          send({ to, type: "template", template: { name, language, bodyParams } }, { sender: number, template: known })
        )
        if (needsMore.has(name)) {
          assert.strictEqual(outcome._tag === "Refused" ? outcome.error.code : undefined, "invalid_body", name)
          continue
        }
        assert.strictEqual(outcome._tag, "Accepted", name)
        formats.add(`${known.parameterFormat} ${bodyParams.length > 0}`)
      }
      assert.deepStrictEqual(formats, new Set(["positional false", "positional true", "named true"]))
    }))

  it.live("a template of each form is accepted as it is posted", () =>
    Effect.gen(function*() {
      const { api, number, provider } = yield* simulated()
      for (const { content, template: form } of KindFixture.templates) {
        const { components, language, name } = form
        yield* api.changeTemplate({
          name,
          language,
          category: form.category.toUpperCase(),
          parameterFormat: form.parameterFormat === "named" ? "NAMED" : "POSITIONAL",
          components: components as CloudApiComponents
        })
        const known: Template.Template = { ...template, ...form, variables: Template.variablesOf(components) }
        const outcome = yield* provider.send(
          send({ to, type: "template", template: { name, language, ...content } }, { sender: number, template: known })
        )
        assert.strictEqual(outcome._tag, "Accepted", `${name}: ${JSON.stringify(outcome)}`)
      }
    }))

  it.live("every kind of message is accepted as it is posted, and a reaction to one", () =>
    Effect.gen(function*() {
      const { number, provider } = yield* simulated()
      let quoted = ""
      for (const message of KindFixture.messages(to)) {
        const outcome = yield* provider.send(send(message, { sender: number }))
        if (outcome._tag !== "Accepted") {
          return assert.fail(`${KindFixture.nameOf(message)}: ${JSON.stringify(outcome)}`)
        }
        quoted = outcome.providerMessageId
      }
      const reaction = { message_id: messageId, emoji: "👍" }
      const outcome = yield* provider.send(
        send({ to, type: "reaction", reaction }, { sender: number, refers: { quoted, mediaIds: new Map() } })
      )
      assert.strictEqual(outcome._tag, "Accepted")
      yield* provider.markRead!({ sender: number, providerMessageId: quoted, isTyping: true })
    }))
})
