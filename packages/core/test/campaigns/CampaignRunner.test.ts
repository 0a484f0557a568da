import { assert, describe, it } from "@effect/vitest"
import { Clock, Duration, Effect, Exit, Latch, Layer, Option, Scope, Stream } from "effect"
import { none } from "../../src/campaigns/CampaignCounts.ts"
import * as CampaignRunner from "../../src/campaigns/CampaignRunner.ts"
import { Campaigns, type NewCampaign } from "../../src/campaigns/Campaigns.ts"
import { CampaignStore } from "../../src/campaigns/CampaignStore.ts"
import * as Recipient from "../../src/campaigns/Recipient.ts"
import { after } from "../../src/campaigns/RecipientEnd.ts"
import { Forbidden, RateLimited, ServerError } from "../../src/Errors.ts"
import { EventStore } from "../../src/events/EventStore.ts"
import type { MediaId, PhoneNumberId, WorkspaceId } from "../../src/Id.ts"
import * as Media from "../../src/media/Media.ts"
import { SendableMedia } from "../../src/media/SendableMedia.ts"
import { MessageStore } from "../../src/messages/MessageStore.ts"
import type { PhoneNumber } from "../../src/numbers/PhoneNumber.ts"
import type { ProviderOutcome } from "../../src/provider/Provider.ts"
import { Heartbeats } from "../../src/queue/Heartbeats.ts"
import { QueuedMessages } from "../../src/queue/QueuedMessages.ts"
import type { ProviderTemplate } from "../../src/templates/Template.ts"
import { TemplateStore } from "../../src/templates/TemplateStore.ts"
import { CurrentRateCard } from "../../src/usage/RateCard.ts"
import { day, hour, minute, second } from "../checks.ts"
import { advance, at, settle } from "../clock.ts"
import { start } from "../samples.ts"
import { foundation, heldVault, newId, stubProvider, templates, world } from "../world.ts"

const setUp = () => {
  const provider = stubProvider()
  /** What every *accept* waits for. */
  const storage = { isReady: Effect.void }
  /** Until when files are kept, by their ids. */
  const files = new Map<MediaId, number>()
  const images = {
    /** The workspaces' images. */
    ids: new Set<MediaId>(),
    /** What every upload to the provider waits for. */
    isUploaded: Effect.void
  }
  const library = Layer.succeed(SendableMedia, {
    find: (_, id) =>
      Effect.sync(() =>
        images.ids.has(id) ? { id, mimeType: "image/png", size: 1, isAnimated: false, isOpus: false } : undefined
      ),
    providerIdOf: (_, { id }) => Effect.as(Effect.suspend(() => images.isUploaded), `provider-${id}`),
    forgetProviderId: () => Effect.void,
    sampleHandleOf: () => Effect.die("no test has samples"),
    keepUntil: (_, ids, until) =>
      Effect.sync(() => {
        for (const id of ids) files.set(id, until)
        return new Map(ids.map((id) => [id, null]))
      })
  })
  const store = Layer.effect(
    MessageStore,
    Effect.map(MessageStore, (real) =>
      MessageStore.of({
        ...real,
        accept: (command) => Effect.andThen(Effect.suspend(() => storage.isReady), real.accept(command))
      }))
  )
  /** How many messages of a number the runner had room for when it last asked for work. */
  const room = { of: (_: PhoneNumberId): number | undefined => undefined }
  const campaignStore = Layer.effect(
    CampaignStore,
    Effect.map(CampaignStore, (real) =>
      CampaignStore.of({
        ...real,
        work: (command) =>
          Effect.suspend(() => {
            room.of = (id) => command.roomOf?.(id)
            return real.work(command)
          })
      }))
  )
  return {
    provider,
    storage,
    files,
    images,
    room,
    layer: Layer.mergeAll(QueuedMessages.layer, Campaigns.layer).pipe(
      Layer.provideMerge(Layer.mergeAll(provider.layer, store, campaignStore, heldVault, library)),
      Layer.provideMerge(foundation)
    )
  }
}

type Given = ReturnType<typeof setUp>

/** Runs a test at {@link start}. */
const campaigning =
  <E>(test: (given: Given) => Effect.Effect<void, E, Layer.Success<Given["layer"]> | Scope.Scope>) => () =>
    Effect.suspend(() => {
      const given = setUp()
      return test(given).pipe(Effect.provide(given.layer), at(start))
    })

/** Starts the runner like a process. */
const startRunner = Effect.gen(function*() {
  const scope = yield* Scope.make()
  yield* Layer.buildWithScope(Layer.fresh(Layer.provide(CampaignRunner.layer, Heartbeats.layer)), scope)
  yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
  return { stop: Scope.close(scope, Exit.void) }
})

const customer = (n: number) => `+1202555${String(n).padStart(4, "0")}`

const rows = (count: number) =>
  Stream.fromIterable(Array.from({ length: count }, (_, n) => Recipient.parse({ to: customer(n) })))

const get = (workspaceId: WorkspaceId, id: string) => Campaigns.use((campaigns) => campaigns.get(workspaceId, id))

/** Lists the templates of a number's account again. */
const list = ({ providerAccountId, workspaceId }: PhoneNumber, listed: ReadonlyArray<ProviderTemplate>) =>
  Effect.gen(function*() {
    const now = yield* Clock.currentTimeMillis
    const ids = yield* Effect.replicateEffect(newId("tpl"), listed.length)
    yield* TemplateStore.use((store) =>
      store.replaceAll({ now, listedAt: now, workspaceId, providerAccountId, listed, ids })
    )
  })

const pictured: ProviderTemplate = {
  ...templates[0]!,
  providerTemplateId: "provider-pictured",
  name: "pictured",
  components: [{ type: "HEADER", format: "IMAGE" }, { type: "BODY", text: "Hello." }]
}

/** A checked campaign with as many recipients, which a runner works on. */
const ready = (count: number, plan: Partial<NewCampaign> = {}, more: ReadonlyArray<ProviderTemplate> = []) =>
  Effect.gen(function*() {
    const { number, workspace } = yield* world()
    if (more.length > 0) yield* list(number, [...templates, ...more])
    const campaigns = yield* Campaigns
    const { id } = yield* campaigns.create(workspace.id, {
      name: "All",
      template: { name: "plain", language: "en_US" },
      share: 0.9,
      ...plan
    })
    yield* campaigns.upload(workspace.id, id, rows(count), "add")
    yield* campaigns.change(workspace.id, id, { _tag: "Check" })
    yield* advance(2 * second)
    assert.strictEqual((yield* get(workspace.id, id)).status, "ready")
    const change = (_tag: "Start" | "Pause" | "Resume" | "Cancel") => campaigns.change(workspace.id, id, { _tag })
    return { workspace, number, id, change, now: get(workspace.id, id) }
  })

/** A checked campaign with one recipient, whose message shows an image, that ends at this time. */
const readyWithFile = (images: Given["images"], notAfter: number) =>
  Effect.gen(function*() {
    const media = yield* newId("med")
    images.ids.add(media)
    const header = { image: { media } }
    const plan = { template: { name: "pictured", language: "en_US", header }, notAfter }
    return { ...yield* ready(1, plan, [pictured]), media }
  })

const completions = (workspaceId: WorkspaceId) =>
  Effect.map(
    EventStore.use((store) => store.list(workspaceId, { type: "campaign.completed" }, { limit: 10, after: null })),
    ({ items }) => items
  )

const notSent: ProviderOutcome = {
  _tag: "NotSent",
  error: new ServerError({ reason: "provider_unavailable", message: "the provider is not reachable" })
}

describe("the campaign runner", () => {
  it.effect(
    "the files of a campaign's templates are kept while it may send, as it is started and changed",
    campaigning(({ files, images }) =>
      Effect.gen(function*() {
        yield* startRunner
        const [media, mediaB] = [yield* newId("med"), yield* newId("med")]
        images.ids.add(media).add(mediaB)
        const template = (media: MediaId) => ({
          name: "plain",
          language: "en_US",
          header: { type: "image", image: { media } }
        } as const)
        const startAt = start + 45 * day
        const plan = { template: template(media), templateB: template(mediaB), startAt }
        const { change, id, now, workspace } = yield* ready(1, plan)
        assert.strictEqual(files.size, 0)
        yield* change("Start")
        assert.strictEqual((yield* now).status, "scheduled")
        assert.deepStrictEqual([...files], [[media, startAt + day], [mediaB, startAt + day]])
        const campaigns = yield* Campaigns
        const notAfter = startAt + 3 * day
        yield* campaigns.change(workspace.id, id, { _tag: "Edit", plan: { notAfter } })
        assert.deepStrictEqual([...files], [[media, notAfter], [mediaB, notAfter]])
        files.clear()
        yield* change("Cancel")
        assert.strictEqual(files.size, 0)
      })
    )
  )

  it.effect("the forecast of a campaign whose start is moved has the prices of the new start", () => {
    const rate = { market: "US", category: "utility", currency: "USD" }
    const startAt = start + 30 * day
    const rateCard = [{ ...rate, price: 1_000_000, validFrom: 0 }, { ...rate, price: 3_000_000, validFrom: startAt }]
    const test = campaigning(() =>
      Effect.gen(function*() {
        yield* startRunner
        const { id, now, workspace } = yield* ready(2)
        const costs = Effect.map(now, ({ forecast }) => forecast!.costs)
        assert.deepStrictEqual(yield* costs, [{ currency: "USD", amount: "2.00" }])
        const campaigns = yield* Campaigns
        yield* campaigns.change(workspace.id, id, { _tag: "Edit", plan: { startAt } })
        assert.deepStrictEqual(yield* costs, [{ currency: "USD", amount: "6.00" }])
        yield* campaigns.change(workspace.id, id, { _tag: "Edit", plan: { startAt: null, share: 0.5 } })
        assert.deepStrictEqual(yield* costs, [{ currency: "USD", amount: "2.00" }])
      })
    )
    return test().pipe(Effect.provideService(CurrentRateCard, rateCard))
  })

  it.effect(
    "a campaign sends to each recipient once, at its pace, and tells when it is done",
    campaigning(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner
        yield* startRunner
        const { change, id, now, workspace } = yield* ready(200, { share: 0.5 })
        yield* change("Start")
        // 40 a second, and what may be sent within the horizon
        yield* advance(2 * second)
        assert.isAtLeast(provider.calls.length, 40)
        assert.isAtMost(provider.calls.length, 90)
        yield* advance(10 * second)
        assert.sameMembers(
          provider.calls.map(({ message }) => message.to),
          Array.from({ length: 200 }, (_, n) => customer(n))
        )
        const done = yield* now
        assert.strictEqual(done.status, "completed")
        assert.deepStrictEqual(done.counts, { ...none, sent: 200 })
        const [completed, ...more] = yield* completions(workspace.id)
        assert.deepStrictEqual([completed?.data["campaign_id"], more], [id, []])
      })
    )
  )

  it.effect(
    "a paused campaign calls the provider no more within a second, and goes on where it was",
    campaigning(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner
        const { change, now } = yield* ready(300)
        yield* change("Start")
        yield* advance(2 * second)
        yield* change("Pause")
        yield* advance(second)
        const paused = provider.calls.length
        assert.isAbove(paused, 0)
        yield* advance(hour)
        assert.strictEqual(provider.calls.length, paused)
        yield* change("Resume")
        yield* advance(minute)
        assert.strictEqual(new Set(provider.calls.map(({ message }) => message.to)).size, 300)
        assert.strictEqual(provider.calls.length, 300)
        assert.strictEqual((yield* now).status, "completed")
      })
    )
  )

  it.effect(
    "while the provider does not answer, no more than 256 of a campaign's messages are in flight",
    campaigning(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner
        const { change } = yield* ready(400)
        const gate = yield* Latch.make()
        const { answer } = provider
        provider.answer = (...call) => Effect.andThen(gate.await, answer(...call))
        yield* change("Start")
        yield* advance(7 * second)
        assert.lengthOf(provider.calls, 256)
        yield* gate.open
        // those that waited meanwhile are late for their slots, and get new ones, 72 in a second
        yield* advance(second)
        assert.isBelow(provider.calls.length, 256 + 80)
        yield* advance(minute)
        assert.lengthOf(provider.calls, 400)
      })
    )
  )

  /** Sends a campaign at 72 a second, and checks that no second has more than a tenth above that. */
  const keepsPace = ({ provider }: Given, count: number, test: (times: ReadonlyArray<number>) => Effect.Effect<void>) =>
    Effect.gen(function*() {
      yield* startRunner
      const { change, now } = yield* ready(count)
      const times: Array<number> = []
      const { answer } = provider
      provider.answer = (...call) =>
        Effect.andThen(Effect.map(Clock.currentTimeMillis, (at) => void times.push(at)), answer(...call))
      yield* change("Start")
      yield* test(times)
      yield* advance(minute)
      assert.strictEqual((yield* now).status, "completed")
      assert.lengthOf(new Set(provider.calls.map(({ message }) => message.to)), count)
      assert.lengthOf(times, count)
      for (const from of times) {
        assert.isAtMost(times.filter((time) => time >= from && time < from + second).length, 72 * 1.1)
      }
    })

  it.effect(
    "messages that the storage delays beyond their slots wait for others, so that no second holds more than the share",
    campaigning((given) =>
      keepsPace(given, 400, (times) =>
        Effect.gen(function*() {
          yield* advance(2 * second)
          const gate = yield* Latch.make()
          given.storage.isReady = gate.await
          yield* advance(600)
          const before = times.length
          yield* gate.open
          yield* advance(1)
          // those that are due since less than 40 ms
          assert.isAtMost(times.length, before + 5)
        }))
    )
  )

  it.effect(
    "a storage that is always slower than the slots allow delays messages, and does not hold them back",
    campaigning((given) => {
      given.storage.isReady = Effect.sleep(300)
      return keepsPace(given, 200, () => Effect.void)
    })
  )

  it.effect(
    "a process that stood still while it took a recipient, until the lease was over, leaves the recipient to other processes",
    campaigning(({ provider }) =>
      Effect.gen(function*() {
        const store = yield* CampaignStore
        let stalls = 0
        yield* Effect.provideService(startRunner, CampaignStore, {
          ...store,
          work: (command) =>
            Effect.tap(store.work(command), (worked) =>
              Option.isSome(worked) && worked.value.claimed.length > 0 && stalls++ === 0
                ? Effect.sleep("2 minutes")
                : Effect.void)
        })
        const error = new ServerError({
          reason: "provider_unavailable",
          message: "x",
          retryAfter: Duration.minutes(15)
        })
        provider.answer = (_, call) =>
          Effect.succeed(call < 2 ? { _tag: "NotSent", error } : { _tag: "Accepted", providerMessageId: "wamid.1" })
        const { change } = yield* ready(1)
        yield* change("Start")
        yield* advance(second)
        assert.strictEqual(stalls, 1)
        yield* startRunner
        yield* advance("10 minutes")
        assert.lengthOf(provider.calls, 1)
        yield* advance("7 minutes")
        assert.lengthOf(provider.calls, 2)
      })
    )
  )

  it.effect(
    "what the provider does not take is tried again, with growing delays, until the campaign's last moment",
    campaigning(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner
        const { change, now } = yield* ready(1, { notAfter: start + 20 * minute })
        provider.answer = () => Effect.succeed(notSent)
        yield* change("Start")
        yield* advance(second)
        assert.lengthOf(provider.calls, 1)
        yield* advance(minute + second)
        assert.lengthOf(provider.calls, 2)
        yield* advance(minute)
        assert.lengthOf(provider.calls, 2)
        // after 3, 7 and 15 minutes
        yield* advance(17 * minute)
        assert.lengthOf(provider.calls, 5)
        yield* advance(hour)
        assert.lengthOf(provider.calls, 5)
        assert.deepStrictEqual((yield* now).counts, { ...none, skipped: 1 })
      })
    )
  )

  it.effect(
    "a message whose file is being uploaded at the campaign's end is skipped, and the provider is not called",
    campaigning(({ images, provider }) =>
      Effect.gen(function*() {
        yield* startRunner
        const { change, now } = yield* readyWithFile(images, start + minute)
        images.isUploaded = Effect.sleep(10 * second)
        yield* advance(52 * second)
        yield* change("Start")
        yield* advance(minute)
        assert.lengthOf(provider.calls, 0)
        assert.deepStrictEqual((yield* now).counts, { ...none, skipped: 1 })
      })
    )
  )

  it.effect(
    "a number whose provider does not answer leaves room for the campaigns of other numbers",
    campaigning(({ provider, room }) => {
      const gate = Latch.makeUnsafe(false)
      return Effect.gen(function*() {
        yield* startRunner
        const [slow, other] = [yield* ready(500), yield* ready(5)]
        const { answer } = provider
        provider.answer = (send, call) =>
          Effect.andThen(send.sender.workspaceId === slow.workspace.id ? gate.await : Effect.void, answer(send, call))
        yield* slow.change("Start")
        yield* advance(7 * second)
        assert.lengthOf(provider.calls, 256)
        // a number has at most a quarter of what a process takes
        assert.isBelow(room.of(slow.number.id)!, 500 - 256)
        yield* other.change("Start")
        yield* advance(5 * second)
        assert.deepInclude(yield* other.now, { status: "completed", counts: { ...none, sent: 5 } })
      }).pipe(
        // what is in flight is waited for
        Effect.ensuring(gate.open)
      )
    })
  )

  it.effect(
    "a campaign whose file is missing is not checked, started or resumed, and pauses itself if the file goes meanwhile",
    campaigning(({ images, provider }) =>
      Effect.gen(function*() {
        yield* startRunner
        const { change, id, media, now, workspace } = yield* readyWithFile(images, start + hour)
        const campaigns = yield* Campaigns
        const refusalOf = (_tag: "Check" | "Start" | "Resume", id: string) =>
          Effect.flip(campaigns.change(workspace.id, id, { _tag }))
        images.ids.delete(media)
        const missing = {
          _tag: "InvalidBody",
          reason: "invalid_field",
          param: "template.header.image.media",
          message: "template.header.image.media does not name a file of this workspace"
        } as const
        assert.deepInclude(yield* refusalOf("Start", id), missing)
        const template = { name: "pictured", language: "en_US", header: { image: { media } } }
        const plan = { name: "B", template: { name: "plain", language: "en_US" }, templateB: template }
        const other = yield* campaigns.create(workspace.id, plan)
        yield* campaigns.upload(workspace.id, other.id, rows(1), "add")
        assert.deepInclude(yield* refusalOf("Check", other.id), { param: "templateB.header.image.media" })

        images.ids.add(media)
        yield* change("Start")
        images.ids.delete(media)
        yield* advance(10 * second)
        assert.deepInclude(yield* now, { status: "paused", pausedFor: "file_not_available" })
        assert.deepInclude(yield* refusalOf("Resume", id), missing)
        images.ids.add(media)
        yield* change("Resume")
        yield* advance(10 * second)
        assert.lengthOf(provider.calls, 1)
        assert.deepInclude(yield* now, { status: "completed", counts: { ...none, sent: 1 } })
      })
    )
  )

  it.effect(
    "a campaign whose template takes other values than when its rows were checked pauses itself, and skips nobody",
    campaigning(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner
        const { change, now, number } = yield* ready(3)
        yield* list(number, [{ ...templates[0]!, components: [{ type: "BODY", text: "Hello {{1}}." }] }])
        yield* change("Start")
        yield* advance(10 * second)
        assert.deepInclude(yield* now, {
          status: "paused",
          pausedFor: "template_changed",
          counts: { ...none, queued: 3 }
        })
        yield* list(number, templates)
        yield* change("Resume")
        yield* advance(10 * second)
        assert.lengthOf(provider.calls, 3)
      })
    )
  )

  it.effect(
    "a recipient whose own value no longer fits the template is skipped, and the campaign sends to the others",
    campaigning(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner
        const { number, workspace } = yield* world()
        const replying: ProviderTemplate = {
          ...templates[0]!,
          components: [{ type: "BODY", text: "Hello." }, {
            type: "BUTTONS",
            buttons: [{ type: "QUICK_REPLY", text: "Yes" }]
          }]
        }
        yield* list(number, [replying])
        const campaigns = yield* Campaigns
        const { id } = yield* campaigns.create(workspace.id, {
          name: "All",
          template: { name: "plain", language: "en_US" }
        })
        const uploaded = [{}, { buttons: [{ index: 0, payload: "own" }] }, {}].map((row, n) =>
          Recipient.parse({ to: customer(n), ...row })
        )
        yield* campaigns.upload(workspace.id, id, Stream.fromIterable(uploaded), "add")
        yield* campaigns.change(workspace.id, id, { _tag: "Check" })
        yield* advance(2 * second)
        yield* list(number, [templates[0]!])
        yield* campaigns.change(workspace.id, id, { _tag: "Start" })
        yield* advance(10 * second)
        assert.deepInclude(yield* get(workspace.id, id), {
          status: "completed",
          counts: { ...none, sent: 2, skipped: 1 }
        })
        assert.sameMembers(provider.calls.map(({ message }) => message.to), [customer(0), customer(2)])
      })
    )
  )

  it.effect(
    "an outcome that is lost is never sent again",
    campaigning(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner
        const { change, now } = yield* ready(3)
        provider.answer = () => Effect.succeed({ _tag: "Unknown" })
        yield* change("Start")
        yield* advance(hour)
        assert.lengthOf(provider.calls, 3)
        assert.deepInclude(yield* now, { status: "completed", counts: { ...none, unknown: 3 } })
      })
    )
  )

  it.effect(
    "a process that stops gives back the recipients whose sends have not begun, and another sends to them soon",
    campaigning(({ provider }) =>
      Effect.gen(function*() {
        const { stop } = yield* startRunner
        const { change } = yield* ready(50)
        yield* change("Start")
        while (provider.calls.length === 0) yield* advance("10 millis")
        yield* Effect.forkChild(stop)
        yield* settle
        assert.isBelow(provider.calls.length, 20)
        yield* startRunner
        yield* advance("4 seconds")
        assert.lengthOf(provider.calls, 50)
        yield* advance("5 minutes")
        assert.lengthOf(provider.calls, 50)
      })
    )
  )

  it.effect(
    "a stopped process leaves its recipients to another, and each is sent once",
    campaigning(({ provider }) =>
      Effect.gen(function*() {
        const { stop } = yield* startRunner
        const { change, now } = yield* ready(100, { share: 0.5 })
        yield* change("Start")
        yield* advance(second)
        yield* stop
        yield* advance(second)
        const before = provider.calls.length
        assert.isBelow(before, 100)
        yield* startRunner
        yield* advance(5 * minute)
        assert.strictEqual(provider.calls.length, 100)
        assert.strictEqual(new Set(provider.calls.map(({ message }) => message.to)).size, 100)
        assert.deepStrictEqual((yield* now).counts, { ...none, sent: 100 })
      })
    )
  )

  it.effect(
    "a campaign pauses when the quota is used up, and sends the rest once there is more",
    campaigning(({ provider }) =>
      Effect.gen(function*() {
        yield* startRunner
        const { workspace } = yield* world({ monthlyQuota: 2 })
        const campaigns = yield* Campaigns
        const { id } = yield* campaigns.create(workspace.id, {
          name: "All",
          template: { name: "plain", language: "en_US" }
        })
        yield* campaigns.upload(workspace.id, id, rows(5), "add")
        yield* campaigns.change(workspace.id, id, { _tag: "Check" })
        yield* advance(2 * second)
        yield* campaigns.change(workspace.id, id, { _tag: "Start" })
        yield* advance(10 * second)
        assert.lengthOf(provider.calls, 2)
        assert.deepInclude(yield* get(workspace.id, id), { status: "paused", pausedFor: "quota_exhausted" })
        yield* advance(31 * day)
        yield* campaigns.change(workspace.id, id, { _tag: "Edit", plan: { notAfter: start + 90 * day } })
        yield* campaigns.change(workspace.id, id, { _tag: "Resume" })
        yield* advance(hour)
        assert.lengthOf(provider.calls, 4)
      })
    )
  )
})

describe("the end of a recipient", () => {
  it("refusals that concern one recipient skip it, and those that concern all pause the campaign", () => {
    const refused = (reason: Forbidden["reason"]) =>
      after({ _tag: "Refused", error: new Forbidden({ reason, message: "x" }) }, 0)
    assert.deepStrictEqual(refused("opted_out").end, {
      _tag: "Skipped",
      error: { code: "forbidden", reason: "opted_out", message: "x" }
    })
    assert.deepStrictEqual(after({ _tag: "Duplicate" }, 0), {
      end: {
        _tag: "Skipped",
        error: {
          code: "forbidden",
          reason: "duplicate",
          message: "the campaign has already written to the customer under another name"
        }
      }
    })
    assert.strictEqual(refused("template_not_approved").pause, "template_not_approved")
    assert.strictEqual(refused("quota_exhausted").pause, "quota_exhausted")
    const param = "template.header.image.media"
    const unusable = { _tag: "Refused", error: Media.missing(param) } as const
    assert.strictEqual(after(unusable, 0, (error) => error.param === param).pause, "file_not_available")
    assert.strictEqual(after(unusable, 0).end?._tag, "Skipped")
    // waiting for a limit is no try, after which the next failure would wait longer
    assert.strictEqual(refused("quota_exhausted").end?._tag, "Missed")
    assert.strictEqual(refused("messaging_limit_reached").end?._tag, "Missed")
    const limited = new RateLimited({ reason: "pair", message: "x", retryAfter: Duration.seconds(6) })
    assert.deepStrictEqual(after({ _tag: "Refused", error: limited }, 3), {
      end: { _tag: "Missed", after: Duration.seconds(6) }
    })
  })
})
