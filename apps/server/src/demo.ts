/**
 * `npm run demo`: starts the service and a small receiver, and sends several kinds of message and a campaign through
 * them, step by step. Afterwards the service stays up.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { SIGNATURE_HEADER, verify } from "@wac/verifier"
import { Console, Effect, Queue, Schema } from "effect"
import { createServer, type IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import * as Guide from "./Guide.ts"
import { run } from "./Run.ts"
import { teardown } from "./Teardown.ts"

/** A step of the demonstration got an unexpected response. */
class DemoFailed
  extends Schema.TaggedError<DemoFailed>()("DemoFailed", { step: Schema.String, answer: Schema.String })
{
  override get message() {
    return `the demo failed at ${this.step}: ${this.answer}`
  }
}

/** A delivery to the receiver: the raw body and the signature header. */
interface Received {
  readonly body: Buffer
  readonly signature: string | undefined
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Array<Buffer> = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** The sandbox's customer who answers each message, with its first button if it has one. */
const answering = "+15005550011"

/** A picture of one pixel. */
const picture = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64"
)

/** The file with the campaign's customers, one of whom it lists twice. */
const customers = [
  "to,name,order",
  "+15551230001,Ana,1051",
  "+15551230002,Ben,1052",
  "+15551230003,Cleo,1053",
  "+15551230004,Dana,1054",
  "+15551230005,Eli,1055",
  "+15551230001,Ana,1056"
].join("\n")

/** How often the campaign's progress is shown. */
const progressEvery = "500 millis"

/** A path of its own, because a previous receiver on this port may still get deliveries. */
const path = "/wac-demo"

/** A customer's server: stores the event and responds with 200. */
const receiver = Effect.gen(function*() {
  const received = yield* Queue.unbounded<Received>()
  const server = yield* Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const listening = createServer((request, response) => {
        if (request.url !== path) return response.writeHead(404).end()
        void bodyOf(request).then((body) => {
          const signature = request.headers[SIGNATURE_HEADER.toLowerCase()]
          Queue.offerUnsafe(received, { body, signature: typeof signature === "string" ? signature : undefined })
          response.writeHead(200).end()
        }, () => response.destroy())
      }).listen(0, "127.0.0.1", () => resume(Effect.succeed(listening)))
    }),
    (listening) =>
      Effect.sync(() => {
        listening.closeAllConnections()
        listening.close()
      })
  )
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}` }
})

/** Makes one request, whose response must be JSON with the expected status. */
const call = (
  step: string,
  url: string,
  init: {
    readonly method: string
    readonly headers: Record<string, string>
    /** A form, the text of a CSV file, or a value that is sent as JSON. */
    readonly body?: FormData | string | object
  },
  status: number
) =>
  Effect.gen(function*() {
    const { body } = init
    const [type, content] = body === undefined
      ? [undefined, null]
      : body instanceof FormData
      ? [undefined, body]
      : typeof body === "string"
      ? ["text/csv", body]
      : ["application/json", JSON.stringify(body)]
    const response = yield* Effect.promise((signal) =>
      fetch(url, {
        method: init.method,
        headers: { ...(type === undefined ? {} : { "content-type": type }), ...init.headers },
        body: content,
        signal
      })
    )
    const text = yield* Effect.promise(() => response.text())
    if (response.status !== status) return yield* new DemoFailed({ step, answer: `${response.status} ${text}` })
    return { body: JSON.parse(text) as Record<string, string>, cookies: response.headers.getSetCookie() }
  })

/** The fields of a campaign that the demonstration shows. */
interface FollowedCampaign {
  readonly status: string
  readonly problems: number
  readonly counts: { readonly total: number; readonly queued: number }
}

let steps = 0

const say = (what: string, detail: string) => Console.log(`  ${++steps}. ${what}\n     ${detail}`)

const demo = Effect.gen(function*() {
  const { received, url: receiverUrl } = yield* receiver
  const { guide } = yield* run({
    LOG_LEVEL: "error",
    ...process.env,
    // the demonstration stores nothing, sends to no phone, and calls only itself
    DATABASE_URL: "memory:",
    PROVIDER: "sandbox",
    PUBLIC_URL: "",
    // its output, with the set-up link, is for a person
    LOG_FORMAT: "pretty",
    // the demo's receiver is on this machine and speaks http
    WEBHOOK_ALLOW_INSECURE: "true",
    WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8",
    WAC_OWNER_EMAIL: "",
    WAC_OWNER_PASSWORD: ""
  })
  if (guide?.signIn._tag !== "SetupLink") {
    return yield* new DemoFailed({ step: "set-up", answer: "the storage already has a workspace" })
  }
  const { publicUrl, signIn } = guide
  yield* Console.log(
    `\nwac is listening on ${guide.listening} (storage ${guide.storage}, provider ${guide.provider})\n`
  )

  const ownPage = { "sec-fetch-site": "same-origin" }
  const email = "owner@example.com"
  const setUp = yield* call("set-up", `${publicUrl}/internal/setup`, {
    method: "POST",
    headers: ownPage,
    body: { token: signIn.token, email, password: signIn.suggestedPassword, workspaceName: "Demo" }
  }, 201)
  const session = { ...ownPage, cookie: setUp.cookies[0]?.split(";")[0] ?? "" }
  yield* say("The workspace has an owner", `${email}, password ${signIn.suggestedPassword}`)

  const webhook = yield* call("webhook", `${publicUrl}/internal/webhook`, {
    method: "PUT",
    headers: session,
    body: { url: receiverUrl }
  }, 200)
  const secret = webhook.body["signingSecret"]!
  yield* say("Its events go to a receiver", receiverUrl)

  const key = yield* call("API key", `${publicUrl}/internal/api-keys`, {
    method: "POST",
    headers: { ...session, "idempotency-key": "demo-key" },
    body: { name: "demo" }
  }, 201)
  yield* say("An API key was issued", key.body["apiKey"]!)

  const authorization = `Bearer ${key.body["apiKey"]}`
  const send = (name: string, message: object) =>
    call(name, `${publicUrl}/v1/messages`, {
      method: "POST",
      headers: { authorization, "idempotency-key": `demo-${name}` },
      body: message
    }, 200)

  /**
   * Waits for the next event of this type. Verifies all events until then, and shows them; with `only`, just the last.
   */
  const receive = (type: string, { only = false } = {}) =>
    Effect.gen(function*() {
      while (true) {
        const { body, signature } = yield* Queue.take(received)
        const verified = yield* Effect.promise(() => verify(body, signature, secret))
        if (!verified.ok) return yield* new DemoFailed({ step: "verification", answer: verified.reason })
        const event = JSON.parse(body.toString()) as { readonly type: string }
        if (!only || event.type === type) {
          yield* say(`The receiver got ${event.type}, and its signature is valid`, body.toString())
        }
        if (event.type === type) return
      }
    })

  const template = { name: "order_update", language: "en_US", bodyParams: ["Ana", "1042"] }
  const sent = yield* send("template", { to: "+15551234567", type: "template", template })
  yield* say("A template message was sent", JSON.stringify(sent.body))
  yield* receive("message.delivered")

  // the customer's answer opens the window for messages of every kind
  const asked = yield* send("question", { to: answering, type: "template", template })
  yield* say("A template message was sent to a customer who answers", JSON.stringify(asked.body))
  yield* receive("message.received")
  const form = new FormData()
  form.append("file", new Blob([picture], { type: "image/png" }), "shelf.png")
  const uploaded = yield* call("upload", `${publicUrl}/v1/media`, {
    method: "POST",
    headers: { authorization, "idempotency-key": "demo-upload" },
    body: form
  }, 201)
  yield* say("A picture was uploaded", JSON.stringify(uploaded.body))
  const choice = yield* send("buttons", {
    to: answering,
    type: "interactive",
    interactive: {
      type: "button",
      header: { type: "image", image: { media: uploaded.body["media_id"] } },
      body: { text: "Is this the shelf you ordered?" },
      action: {
        buttons: [
          { type: "reply", reply: { id: "yes", title: "Yes" } },
          { type: "reply", reply: { id: "no", title: "No" } }
        ]
      }
    }
  })
  yield* say("The picture was sent with two buttons", JSON.stringify(choice.body))
  yield* receive("message.received")

  const created = yield* call("campaign", `${publicUrl}/internal/campaigns`, {
    method: "POST",
    headers: { ...session, "idempotency-key": "demo-campaign" },
    // a slow one, so that its progress can be seen
    body: { name: "Demo", template: { ...template, bodyParams: ["{{name}}", "{{order}}"] }, share: 0.05 }
  }, 201)
  const at = `${publicUrl}/internal/campaigns/${created.body["id"]}`
  const act = (verb: string) => call(verb, `${at}/${verb}`, { method: "POST", headers: session }, 200)
  /** Requests the campaign until it has this status; calls `see` with every response. */
  const follow = (status: string, see: (campaign: FollowedCampaign) => Effect.Effect<void> = () => Effect.void) =>
    Effect.gen(function*() {
      while (true) {
        const { body } = yield* call("campaign", at, { method: "GET", headers: session }, 200)
        const campaign = body as unknown as FollowedCampaign
        yield* see(campaign)
        if (campaign.status === status) return campaign
        yield* Effect.sleep(progressEvery)
      }
    })
  yield* call("recipients", `${at}/recipients`, { method: "PUT", headers: session, body: customers }, 200)
  yield* act("check")
  const checked = yield* follow("ready")
  yield* say(
    "A campaign was made of a file, and its rows were checked",
    `${checked.counts.total} customers to send to; ${checked.problems} row is left out, since its customer is in an earlier one`
  )
  yield* act("start")
  yield* say("The campaign was started", "It sends slowly, so that its progress can be seen")
  let shown = -1
  const completed = yield* follow("completed", ({ counts: { queued, total } }) => {
    if (total - queued === shown) return Effect.void
    shown = total - queued
    return Console.log(`     ${shown} of ${total} customers`)
  })
  yield* say("The campaign has sent to each customer once", JSON.stringify(completed.counts))
  yield* receive("campaign.completed", { only: true })

  yield* Console.log(`\nThat is the whole flow. The service stays up; Ctrl-C stops it.\n${
    Guide.text({
      ...guide,
      signIn: { _tag: "Owner", email, password: signIn.suggestedPassword }
    })
  }`)
  return yield* Effect.never
})

NodeRuntime.runMain(Effect.scoped(demo), { disableErrorReporting: true, teardown: teardown("text") })
