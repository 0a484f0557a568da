import { assert, describe, it } from "@effect/vitest"
import {
  Errors,
  type Id,
  Inbound,
  type InboundItem,
  type Message,
  PhoneNumber,
  Provider,
  SenderBlock,
  SenderCredentials,
  StoreError
} from "@wac/core"
import * as DocumentedCodes from "@wac/testbed/DocumentedCodes"
import { Deferred, Duration, Effect, Layer, Logger, Redacted } from "effect"
import * as WhatsAppProvider from "../src/WhatsAppProvider.ts"
import { messageId, send, sender, templated, text, to } from "./samples.ts"
import * as Upstream from "./upstream.ts"

const token = "EAAGm0PX4ZCpsBAKZCz9ZBmGXh0ZAqC3HZB7yTq"

const account = { providerAccountId: "102290129340398" }
const number = { providerNumberId: "106540352242922" }

interface World {
  readonly provider: Provider.Provider["Service"]
  readonly told: Array<InboundItem.InboundItem>
  readonly logged: Array<string>
}

type Receive = Inbound.Inbound["Service"]["receive"]

/** Runs on a provider whose API is at `baseUrl`, to the end of what it still had to tell. */
const against = <A, E>(
  baseUrl: string,
  body: (world: World) => Effect.Effect<A, E>,
  { credentials = Effect.undefined, receive = () => Effect.succeed([]), sendTimeout = Duration.seconds(10) }: {
    readonly credentials?: ReturnType<SenderCredentials.SenderCredentials["Service"]["of"]>
    readonly receive?: Receive
    readonly sendTimeout?: Duration.Duration
  } = {}
): Effect.Effect<{ readonly result: A } & World, E> =>
  Effect.suspend(() => {
    const told: Array<InboundItem.InboundItem> = []
    const logged: Array<string> = []
    const provider = WhatsAppProvider.layer({
      baseUrl,
      apiVersion: "v25.0",
      accessToken: Redacted.make(token),
      phoneNumberId: "106540352242922",
      businessAccountId: "102290129340398"
    }, { sendTimeout })
    const inbound = Layer.mock(Inbound.Inbound, {
      receive: (items) => Effect.andThen(Effect.sync(() => told.push(...items)), receive(items))
    })
    return Effect.flatMap(Provider.Provider, (provider) => {
      const world = { provider, told, logged }
      return Effect.map(body(world), (result) => ({ result, ...world }))
    }).pipe(
      Effect.provide(provider.pipe(
        Layer.provide([inbound, Layer.mock(SenderCredentials.SenderCredentials, { of: () => credentials })]),
        Layer.provideMerge(Logger.layer([Logger.make((options) => logged.push(Logger.formatJson.log(options)))]))
      ))
    )
  })

/** What comes of one send. */
const sending = (
  baseUrl: string,
  command: Provider.ProviderSend = send(text),
  options: Parameters<typeof against>[2] = {}
) => against(baseUrl, ({ provider }) => provider.send(command), options)

const errorBody = (code: number, details = "Details.") =>
  JSON.stringify({ error: { message: `(#${code}) Title`, type: "OAuthException", code, error_data: { details } } })

const errorOf = (outcome: Provider.ProviderOutcome) => {
  assert.include(["Refused", "NotSent"], outcome._tag)
  return (outcome as Extract<Provider.ProviderOutcome, { readonly error: unknown }>).error
}

describe("a send", () => {
  it.live("an accepted send was posted once, as documented", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, "{\"messages\":[{\"id\":\"wamid.1\"}]}")
      const { logged, result, told } = yield* sending(upstream.baseUrl)
      assert.deepStrictEqual(result, { _tag: "Accepted", providerMessageId: "wamid.1" })
      assert.strictEqual(upstream.received.length, 1)
      const [request] = upstream.received
      assert.strictEqual(`${request?.method} ${request?.target}`, "POST /v25.0/106540352242922/messages")
      assert.strictEqual(request?.headers.get("authorization"), `Bearer ${token}`)
      assert.deepInclude(JSON.parse(request?.body ?? ""), { to, type: "text", biz_opaque_callback_data: messageId })
      assert.deepStrictEqual(told, [])
      assert.deepStrictEqual(logged, [])
    }))

  it.live("an accepted send ends the block of its number", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, "{\"messages\":[{\"id\":\"wamid.1\"}]}")
      const blocked = { ...sender, block: SenderBlock.of("quality", 0, null) }
      const { told } = yield* sending(upstream.baseUrl, send(text, { sender: blocked }))
      assert.strictEqual(told.length, 1)
      assert.deepInclude(told[0], { _tag: "Number", number, change: { block: null } })
    }))

  it.live("a block that applies outside a window only is over once a template is accepted after it, and no reply ends it", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, "{\"messages\":[{\"id\":\"wamid.1\"}]}")
      const block = { ...SenderBlock.of("restricted", 0, null), scope: "outside_window" } as const
      const isEnded = (message: Message.OutboundMessage, until: number | null) =>
        Effect.map(
          sending(upstream.baseUrl, send(message, { sender: { ...sender, block: { ...block, until } } })),
          ({ told }) => told.length > 0
        )
      const template = templated("A-1001", "Tuesday")
      assert.isFalse(yield* isEnded(text, null))
      assert.isFalse(yield* isEnded(template, null))
      assert.isFalse(yield* isEnded(text, block.until))
      assert.isTrue(yield* isEnded(template, block.until))
    }))

  it.live("a message that is refused although the restriction allows it shows that the restriction is not all", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(403, errorBody(131_031))
      const restriction = {
        ...SenderBlock.of("restricted", 0, null),
        scope: "outside_window",
        basis: "term",
        until: Number.MAX_SAFE_INTEGER
      } as const
      const blockAfter = Effect.fnUntraced(function*(
        message: Message.OutboundMessage,
        block: SenderBlock.SenderBlock | null
      ) {
        const { told: [item] } = yield* sending(upstream.baseUrl, send(message, { sender: { ...sender, block } }))
        const next = item?._tag === "Number" ? item.change.block : undefined
        const { basis, scope } = SenderBlock.renewed(block, next!)
        return [basis, scope]
      })
      for (const until of [Number.MAX_SAFE_INTEGER, 1]) {
        assert.deepStrictEqual(yield* blockAfter(text, { ...restriction, until }), ["report", "all"])
      }
      // the window was open, or the restriction would have stopped the template
      const template = templated("A-1001", "Tuesday")
      assert.deepStrictEqual(yield* blockAfter(template, restriction), ["report", "all"])
      assert.deepStrictEqual(yield* blockAfter(template, { ...restriction, until: 1 }), ["send", "outside_window"])
      for (const block of [null, { ...restriction, reason: "payment" } as const]) {
        assert.deepStrictEqual(yield* blockAfter(text, block), ["send", "all"])
      }
    }))

  it.live("a template that a restriction refuses again, once it is tried, leaves replies allowed", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(403, errorBody(131_031))
      const block = { ...SenderBlock.of("restricted", 0, null), scope: "outside_window" } as const
      const command = send(templated("A-1001", "Tuesday"), { sender: { ...sender, block } })
      const { told: [item] } = yield* sending(upstream.baseUrl, command)
      assert.deepInclude(item?._tag === "Number" ? item.change.block : undefined, {
        basis: "send",
        scope: "outside_window"
      })
    }))

  const follows: { readonly [effect: string]: (item: InboundItem.InboundItem) => void } = {
    "opt out": (item) =>
      assert.deepInclude(item, {
        _tag: "Preference",
        ...number,
        customer: { phone: to, userId: null },
        preference: "opt_out"
      }),
    "list templates": (item) => assert.deepStrictEqual(item, { _tag: "TemplatesChanged", ...account }),
    "template paused": (item) =>
      assert.deepInclude(item, {
        _tag: "Template",
        ...account,
        name: "order_update",
        language: "en_US",
        change: { status: "paused" }
      }),
    "template disabled": (item) => assert.deepInclude(item, { _tag: "Template", change: { status: "disabled" } })
  }

  const followsBlock = (effect: string, code: number) => (item: InboundItem.InboundItem): void => {
    const [, scope, reason] = effect.split(" ")
    assert.deepInclude(item, { _tag: "Number", number: scope === "account" ? account : number })
    const block = item._tag === "Number" ? item.change.block : undefined
    assert.strictEqual(block?.reason, reason)
    assert.deepStrictEqual(block?.provider, { code: `${code}`, message: "Title: Details." })
  }

  for (const { code, effect, error, reason, retryAfter } of DocumentedCodes.all) {
    it.live(`answered with ${code} is ${error}, ${reason}${effect === undefined ? "" : `; ${effect}`}`, () =>
      Effect.gen(function*() {
        const upstream = yield* Upstream.always(400, errorBody(code))
        const { result, told } = yield* sending(upstream.baseUrl, send(templated("A-1001", "Tuesday")))
        assert.strictEqual(result._tag, ["invalid_body", "forbidden"].includes(error) ? "Refused" : "NotSent")
        const given = errorOf(result)
        assert.strictEqual(given.code, error)
        assert.strictEqual(given.reason, reason)
        assert.deepStrictEqual(given.provider, { code: `${code}`, message: "Title: Details." })
        const wait = "retryAfter" in given && given.retryAfter !== undefined
          ? Duration.toSeconds(given.retryAfter)
          : null
        assert.strictEqual(wait, retryAfter)
        assert.strictEqual(upstream.received.length, 1)
        assert.strictEqual(told.length, effect === undefined ? 0 : 1)
        if (effect !== undefined) (follows[effect] ?? followsBlock(effect, code))(told[0]!)
      }))
  }

  it.live("a send of an uploaded file that Meta no longer has was not sent, and the port learns why", () =>
    Effect.gen(function*() {
      const id = "med_01ARZ3NDEKTSV4RRFFQ69G5FAV" as Id.MediaId
      const details = "Param image['id'] is not a valid whatsapp business account media attachment ID"
      const uploaded = send({ to, type: "image", image: { media: id, caption: "media" } }, {
        refers: { quoted: null, mediaIds: new Map([[id, "4490709327384033"]]) }
      })
      const linked = send({ to, type: "image", image: { link: "https://example.com/a.png" } })
      for (
        const [command, code, words, isGone] of [
          [uploaded, 100, details, true],
          [uploaded, 131009, details, true],
          [uploaded, 100, "Another parameter.", false],
          [uploaded, 131008, details, false],
          [linked, 100, details, false]
        ] as const
      ) {
        const upstream = yield* Upstream.always(400, errorBody(code, words))
        const { result } = yield* sending(upstream.baseUrl, command)
        assert.strictEqual(result._tag, isGone ? "NotSent" : "Refused")
        if (!isGone) continue
        assert.propertyVal(result, "lacksFiles", true)
        assert.strictEqual(errorOf(result).reason, "provider_error")
        assert.strictEqual(errorOf(result).provider?.code, `${code}`)
      }
    }))

  it.live("a send that could not leave has the outcome not sent", () =>
    Effect.gen(function*() {
      const { logged, result, told } = yield* sending(yield* Upstream.nowhere)
      assert.strictEqual(result._tag, "NotSent")
      assert.strictEqual(errorOf(result).reason, "provider_unavailable")
      assert.deepStrictEqual(told, [])
      assert.match(logged.join(), /ECONNREFUSED/)
    }))

  const silence = () => {}
  const unknown: ReadonlyArray<readonly [string, Parameters<typeof Upstream.serve>[0]]> = [
    ["is reset", (socket) => socket.resetAndDestroy()],
    ["is never answered", silence],
    ["is answered with HTML", (socket) => socket.write(Upstream.response(502, "<html>"))],
    ["is answered with HTML and a status that blames us", (socket) => socket.write(Upstream.response(404, "<html>"))],
    ["is answered without a name", (socket) => socket.write(Upstream.response(200, "{\"messages\":[]}"))],
    ["is answered with half of JSON", (socket) => socket.write(Upstream.response(200, "{\"messages\":[{\"id"))],
    [
      "is answered with an error that nobody knows",
      (socket) => socket.write(Upstream.response(500, errorBody(987_654)))
    ],
    ["is sent elsewhere", (socket) => socket.write(Upstream.response(308, "", { location: "http://127.0.0.1:1/" }))]
  ]
  for (const [name, answer] of unknown) {
    it.live(`a send that ${name} has an unknown outcome, and is not repeated`, () =>
      Effect.gen(function*() {
        const upstream = yield* Upstream.serve(answer)
        const { logged, result, told } = yield* sending(upstream.baseUrl, send(text), {
          sendTimeout: Duration.seconds(answer === silence ? 1 : 10)
        })
        assert.deepStrictEqual(result, { _tag: "Unknown" })
        assert.strictEqual(upstream.received.length, 1)
        assert.deepStrictEqual(told, [])
        assert.strictEqual(logged.length, 1)
        assert.include(logged[0], messageId)
      }))
  }

  it.live("a send uses the number's own credentials, if it has some", () =>
    Effect.gen(function*() {
      const configured = yield* Upstream.always(200, "{}")
      const upstream = yield* Upstream.always(200, "{\"messages\":[{\"id\":\"wamid.1\"}]}")
      const accessToken = Redacted.make("the-number's-own")
      const own = Effect.succeed({ accessToken, baseUrl: upstream.baseUrl, apiVersion: "v26.0" })
      const { result } = yield* sending(configured.baseUrl, send(text), { credentials: own })
      assert.strictEqual(result._tag, "Accepted")
      yield* sending(configured.baseUrl, send(text), { credentials: Effect.succeed({ accessToken }) })
      for (const [{ received }, version] of [[upstream, "v26.0"], [configured, "v25.0"]] as const) {
        assert.strictEqual(received.length, 1)
        assert.strictEqual(received[0]?.target, `/${version}/106540352242922/messages`)
        assert.strictEqual(received[0]?.headers.get("authorization"), "Bearer the-number's-own")
      }
      const templates = yield* against(configured.baseUrl, ({ provider }) => Effect.exit(provider.templates(sender)), {
        credentials: own
      })
      assert.isDefined(templates.result)
      assert.match(upstream.received[1]?.target ?? "", /^\/v26.0\/102290129340398\/message_templates/)
    }))

  it.live("a send is not made if the number's own credentials cannot be read", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, "{\"messages\":[{\"id\":\"wamid.1\"}]}")
      const error = new Errors.ServerError({ reason: "storage_unavailable", message: "not now" })
      const { result } = yield* sending(upstream.baseUrl, send(text), { credentials: Effect.fail(error) })
      assert.deepStrictEqual(result, { _tag: "NotSent", error })
      const templates = yield* against(upstream.baseUrl, ({ provider }) => Effect.flip(provider.templates(sender)), {
        credentials: Effect.fail(error)
      })
      assert.strictEqual(templates.result.message, "the provider did not list the templates: not now")
      assert.strictEqual(upstream.received.length, 0)
    }))

  it.live("a send has its outcome even if what follows from it cannot be stored", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(400, errorBody(131050))
      for (
        const receive of [
          () => Effect.fail(new StoreError.StoreError({ operation: "recordPreference" })),
          () => Effect.die(new Error("broken"))
        ]
      ) {
        const { logged, result } = yield* sending(upstream.baseUrl, send(text), { receive })
        assert.strictEqual(errorOf(result).reason, "opted_out")
        assert.match(logged.join(), /could not be applied/)
      }
    }))

  it.live("a send returns its outcome before what follows from it is stored", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(400, errorBody(131050))
      let isOver = false
      const isAnswered = yield* Deferred.make<void>()
      const receive = () =>
        Deferred.await(isAnswered).pipe(
          // long enough for a stop that does not wait to be over
          Effect.andThen(Effect.replicateEffect(Effect.yieldNow, 100, { discard: true })),
          Effect.andThen(Effect.sync(() => void (isOver = true))),
          Effect.as([])
        )
      yield* against(upstream.baseUrl, ({ provider }) =>
        Effect.flatMap(provider.send(send(text)), (outcome) => {
          assert.strictEqual(outcome._tag, "Refused")
          assert.isFalse(isOver)
          return Deferred.succeed(isAnswered, undefined)
        }), { receive })
      // stopping waited for it
      assert.isTrue(isOver)
    }))

  it.live("neither token nor content nor recipient of a send is in errors or the log", () =>
    Effect.gen(function*() {
      const said = "The secret code is 4711"
      const bodies = [131009, 190, 131030, 987_654].flatMap((code) =>
        [400, 500].map((status) =>
          [status, errorBody(code, `${token} and '${said}' to ${to} or ${to.slice(1)}`)] as const
        )
      )
      for (const [status, body] of bodies) {
        const upstream = yield* Upstream.always(status, body)
        for (
          const message of [
            { ...text, text: { body: said } } as Message.OutboundMessage,
            templated(said, "x")
          ]
        ) {
          const { logged, result, told } = yield* sending(upstream.baseUrl, send(message))
          const seen = JSON.stringify({ result, told: told.filter(({ _tag }) => _tag !== "Preference"), logged })
          for (const secret of [token, said, "4711", to, to.slice(1)]) assert.notInclude(seen, secret)
        }
      }
    }))
})

describe("the templates", () => {
  const item = (name: string) => ({ id: name, name, language: "en_US", status: "APPROVED", category: "UTILITY" })

  it.live("templates are requested page by page, from the configured host only", () =>
    Effect.gen(function*() {
      const other = yield* Upstream.always(200, "{\"data\":[]}")
      const upstream = yield* Upstream.serve((socket, { target }) => {
        const page = target.includes("after=c1")
          ? { data: [item("b")] }
          : {
            data: [item("a")],
            paging: { cursors: { after: "c1" }, next: `${other.baseUrl}/v25.0/1/message_templates?after=c1` }
          }
        socket.write(Upstream.response(200, JSON.stringify(page)))
      })
      const { result } = yield* against(upstream.baseUrl, ({ provider }) => provider.templates(sender))
      assert.deepStrictEqual(result.map(({ name }) => name), ["a", "b"])
      assert.strictEqual(other.received.length, 0)
      const [first, second] = upstream.received.map(({ target }) => new URL(target, upstream.baseUrl))
      assert.strictEqual(first?.pathname, "/v25.0/102290129340398/message_templates")
      assert.strictEqual(first?.searchParams.get("limit"), "100")
      assert.include(first?.searchParams.get("fields"), "parameter_format")
      assert.isNull(first?.searchParams.get("after") ?? null)
      assert.strictEqual(second?.searchParams.get("after"), "c1")
    }))

  it.live("a refused list of templates fails with the provider's words, without the token", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(401, errorBody(190, `Malformed access token ${token}`))
      const { result, told } = yield* against(
        upstream.baseUrl,
        ({ provider }) => Effect.flip(provider.templates(sender))
      )
      assert.strictEqual(
        result.message,
        "the provider did not list the templates: the provider says that the access token has expired (190: Title: " +
          "Malformed access token …)"
      )
      assert.strictEqual(result.reason, "provider_error")
      assert.strictEqual(told.length, 1)
      followsCredentials(told[0]!)
    }))

  it.live("a list of a missing account's templates fails, and does not block the number", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(
        400,
        JSON.stringify({ error: { code: 100, error_subcode: 33, message: "Unsupported get request" } })
      )
      const { told } = yield* against(upstream.baseUrl, ({ provider }) => Effect.flip(provider.templates(sender)))
      assert.deepStrictEqual(told, [])
    }))

  it.live("a list of templates fails if no response comes", () =>
    Effect.gen(function*() {
      const reset = yield* Upstream.serve((socket) => socket.resetAndDestroy())
      for (const baseUrl of [yield* Upstream.nowhere, reset.baseUrl]) {
        const { result } = yield* against(baseUrl, ({ provider }) => Effect.flip(provider.templates(sender)))
        assert.deepStrictEqual([result._tag, result.reason], ["TemplatesUnavailable", "provider_unavailable"])
        assert.match(result.message, /could not be reached/)
      }
    }))
})

const followsCredentials = (item: InboundItem.InboundItem): void => {
  assert.deepInclude(item, { _tag: "Number", number })
  assert.strictEqual(item._tag === "Number" ? item.change.block?.reason : undefined, "credentials")
}

describe("the first number", () => {
  const answer = {
    id: "106540352242922",
    display_phone_number: "+1 631-555-1000",
    quality_rating: "GREEN",
    throughput: { level: "HIGH" },
    status: "CONNECTED",
    whatsapp_business_manager_messaging_limit: "TIER_2K"
  }

  it.live("the first number is the configured one, with its limits", () =>
    Effect.gen(function*() {
      const upstream = yield* Upstream.always(200, JSON.stringify(answer))
      const { result } = yield* against(upstream.baseUrl, ({ provider }) => provider.firstNumber)
      assert.deepStrictEqual(result, {
        phoneNumber: "+16315551000",
        ...number,
        ...account,
        learned: { tier: "high", messagingLimit: 2000, quality: "green" }
      })
      assert.match(upstream.received[0]?.target ?? "", /^\/v25.0\/106540352242922\?fields=/)
      for (
        const [limit, expected] of [["TIER_UNLIMITED", PhoneNumber.unlimited], ["TIER_NOT_SET", null]] as const
      ) {
        const body = { ...answer, whatsapp_business_manager_messaging_limit: limit }
        const other = yield* Upstream.always(200, JSON.stringify(body))
        const { result } = yield* against(other.baseUrl, ({ provider }) => provider.firstNumber)
        assert.strictEqual(result.learned.messagingLimit, expected)
      }
    }))

  it.live("the first number is requested with the field names of older versions too", () =>
    Effect.gen(function*() {
      for (const known of ["messaging_limit_tier", "display_phone_number"]) {
        const upstream = yield* Upstream.serve((socket, { target }) => {
          const fields = new URL(target, "http://x").searchParams.get("fields") ?? ""
          const isKnown = known === "messaging_limit_tier" ? fields.includes(known) : !fields.includes("throughput")
          socket.write(
            isKnown
              ? Upstream.response(
                200,
                JSON.stringify({ display_phone_number: "16315551000", messaging_limit_tier: "TIER_1K" })
              )
              : Upstream.response(400, errorBody(100))
          )
        })
        const { result } = yield* against(upstream.baseUrl, ({ provider }) => provider.firstNumber)
        assert.deepInclude(result, { phoneNumber: "+16315551000" })
        assert.strictEqual(result.learned.messagingLimit, 1000)
      }
    }))

  const failures: ReadonlyArray<
    readonly [string, Effect.Effect<string, never, never> | readonly [number, string], string, RegExp]
  > = [
    ["nobody answers", Upstream.nowhere, "provider_unavailable", /could not be reached/],
    ["the token is wrong", [401, errorBody(190, token)], "provider_error", /the access token has expired \(190/],
    [
      "there is no such number",
      [
        400,
        JSON.stringify({ error: { code: 100, error_subcode: 33, message: "Unsupported get request" } })
      ],
      "provider_error",
      /does not know this phone number/
    ],
    ["the answer has no number", [200, "{}"], "provider_error", /nothing that can be read/],
    ["the answer is no JSON", [502, "<html>"], "provider_error", /status 502/]
  ]
  for (const [name, answer, reason, message] of failures) {
    it.live(`the first number is not known when ${name}`, () =>
      Effect.gen(function*() {
        const baseUrl = Effect.isEffect(answer) ? yield* answer : (yield* Upstream.always(...answer)).baseUrl
        const { result } = yield* against(baseUrl, ({ provider }) => Effect.flip(provider.firstNumber))
        assert.strictEqual(result.reason, reason)
        assert.match(result.message, message)
        assert.include(result.message, "106540352242922")
        assert.notInclude(result.message, token)
      }))
  }
})
