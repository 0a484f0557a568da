/**
 * Workspaces with all their settings: keys and rate limits, numbers, and sealed secrets.
 */
import {
  type ApiKey,
  ApiKeyStore,
  ApiScope,
  Event,
  type Id,
  type Idempotency,
  KeyBinding,
  MemberStore,
  PepperStore,
  PhoneNumber,
  type PhoneNumberStep,
  PhoneNumberStore,
  RateLimit,
  RateLimitStore,
  type Sealed,
  SealedSecretStore,
  SenderBlock,
  SessionStore,
  type Webhook,
  WebhookHealth,
  WebhookStore,
  type Workspace,
  type WorkspaceStep,
  WorkspaceStore
} from "@wac/core"
import { Fixture } from "@wac/testkit"
import { Effect, Option } from "effect"
import { all, ask, askOne, type Game, property } from "./agreement.ts"

const { day, hour, minute, second } = Fixture

const apiKeys = ApiKeyStore.ApiKeyStore
const members = MemberStore.MemberStore
const numbers = PhoneNumberStore.PhoneNumberStore
const secrets = SealedSecretStore.SealedSecretStore
const sessions = SessionStore.SessionStore
const webhooks = WebhookStore.WebhookStore
const workspaces = WorkspaceStore.WorkspaceStore

const masterKeys = ["testkey1", "testkey2"]
const email = "owner@example.com"

/** Several policies for the same bucket, as after a change of the configuration. */
const policies: ReadonlyArray<RateLimit.Policy> = [
  RateLimit.perSecond("workspace", 0.1),
  RateLimit.perSecond("workspace", 1.7),
  { name: "login", interval: RateLimit.intervalOf(7000 / 3), capacity: 5 }
]

property({ length: 80, checkEvery: 20 }, (random, note) =>
  Effect.gen(function*() {
    let now = Date.parse("2026-03-05T12:00:00.000Z")
    const worlds: Array<{ readonly workspace: Workspace.Workspace; readonly owner: WorkspaceStep.Owner }> = []
    const ofNumbers: Array<PhoneNumber.PhoneNumber> = []
    const issued: Array<ApiKey.ApiKey> = []
    const signedIn: Array<SessionStore.StoredSession> = []
    const some = () => Array.from({ length: 1 + random.below(6) }, (_, i) => i)
    const someWorkspace = () => random.pick(worlds).workspace.id
    let seals = 0
    const sealed = (): Sealed.Sealed => ({ ...Fixture.sealed(seals++ % 256), keyId: random.pick(masterKeys) })
    /** A random subset of the fields. */
    const part = <A extends object>(fields: A): Partial<A> =>
      Object.fromEntries(Object.entries(fields).filter(() => random.below(3) === 0)) as Partial<A>
    const settings = () => ({ tier: random.pick([null, "narrow"]), messagingLimit: random.pick([null, 1, 2]) })

    const found = Effect.gen(function*() {
      const workspaceId = yield* Fixture.id("ws")
      const workspace: Workspace.Workspace = {
        id: workspaceId,
        name: `“${workspaceId}”`,
        createdAt: now,
        tier: random.pick([null, "narrow"]),
        monthlyQuota: random.pick([null, 3]),
        suspended: random.below(4) === 0
      }
      const owner: WorkspaceStep.Owner = {
        userId: yield* Fixture.id("usr"),
        workspaceId,
        email,
        passwordHash: "$argon2id$",
        role: "owner",
        createdAt: now
      }
      const phoneNumber = yield* Fixture.phoneNumber(workspaceId, settings())
      if (!(yield* askOne(workspaces.use(({ createFirst }) => createFirst({ workspace, owner, phoneNumber }))))) {
        yield* askOne(workspaces.use(({ create }) => create({ workspace, phoneNumber })))
      }
      worlds.push({ workspace, owner })
      ofNumbers.push(phoneNumber)
    })

    const configure = Effect.suspend(() => {
      const change = part({
        tier: random.pick([null, "narrow", "wide"]),
        monthlyQuota: random.pick([null, 0, 7]),
        suspended: random.below(2) === 0
      })
      const id = someWorkspace()
      return askOne(workspaces.use(({ configure }) => configure(id, change)))
    })

    const addNumber = Effect.gen(function*() {
      const fresh = yield* Fixture.phoneNumber(someWorkspace(), {
        ...settings(),
        available: random.below(3) > 0,
        isDefault: random.below(3) === 0,
        learned: random.pick([PhoneNumber.unlearned, { tier: "wide", messagingLimit: 5, quality: "green" }])
      })
      const { phoneNumber, providerAccountId, providerNumberId } = random.pick(ofNumbers)
      const number = {
        ...fresh,
        phoneNumber: random.often(fresh.phoneNumber, phoneNumber),
        providerAccountId: random.often(providerAccountId, fresh.providerAccountId),
        providerNumberId: random.often(fresh.providerNumberId, providerNumberId)
      }
      const isNew = yield* askOne(numbers.use(({ add }) => add(number)))
      note(String(isNew))
      if (isNew) ofNumbers.push(number)
      if (random.below(4) === 0) yield* askOne(numbers.use(({ add }) => add(number)))
    })

    const nameOf = ({ phoneNumber, providerAccountId, providerNumberId }: PhoneNumber.PhoneNumber) =>
      random.pick<PhoneNumber.NumberName>([
        { providerNumberId },
        { providerAccountId },
        { providerAccountId, phoneNumber }
      ])

    const configureNumber = Effect.suspend(() => {
      const { id } = random.pick(ofNumbers)
      const { providerAccountId } = random.pick(ofNumbers)
      const change = part({ ...settings(), available: random.below(2) === 0, providerAccountId })
      return askOne(numbers.use(({ configure }) => configure(id, change)))
    })

    const observe = Effect.suspend(() => {
      const at = now + random.pick([0, 0, -500, -second, second, -minute])
      const block: SenderBlock.SenderBlock = {
        reason: random.pick(SenderBlock.SenderBlockReason.literals),
        scope: random.pick(SenderBlock.SenderBlockScope.literals),
        basis: random.pick(SenderBlock.SenderBlockBasis.literals),
        since: at,
        until: random.pick([null, at + hour, at + second]),
        provider: random.pick([null, { code: "1", message: "no \u0000 \ud800 “”" }])
      }
      const change = part({
        block: random.pick([null, block, block]),
        lifts: random.pick(SenderBlock.SenderBlockReason.literals),
        tier: random.pick(["narrow", "wide"]),
        messagingLimit: random.pick([null, 1, 2]),
        quality: random.pick(["green", "red"])
      })
      const name = nameOf(random.pick(ofNumbers))
      return askOne(numbers.use(({ observe }) => observe({ name, now, at, change })))
    })

    const setCredentials = Effect.gen(function*() {
      const id = random.often(random.pick(ofNumbers).id, yield* Fixture.id("pn"))
      const credentials = random.often<PhoneNumberStep.SealedCredentials | null>({
        version: yield* Fixture.word,
        accessToken: sealed(),
        baseUrl: random.pick([null, "https://graph.example"]),
        apiVersion: random.pick([null, "v23.0"])
      }, null)
      yield* askOne(numbers.use(({ setCredentials }) => setCredentials({ now, id, credentials })))
    })

    const issue = Effect.gen(function*() {
      const key = yield* Fixture.apiKey(someWorkspace(), now, {
        scopes: random.pick([["messages:send"], [], ApiScope.defaults, ApiScope.all] as const),
        signingSecret: sealed(),
        ...random.pick([
          KeyBinding.unbound,
          { phoneNumberIds: null, allowedCidrs: ["10.0.0.0/8", "2001:db8::/32"] },
          { phoneNumberIds: ["pn_1" as Id.PhoneNumberId], allowedCidrs: null }
        ]),
        requireSignature: random.below(2) === 0,
        expiresAt: random.pick([null, now + minute, now + day])
      })
      const idempotency = {
        key: `key-${random.below(8)}` as Idempotency.IdempotencyKey,
        fingerprint: random.often("usual", "other")
      }
      const times = 1 + Number(random.below(4) === 0)
      for (let i = 0; i < times; i++) {
        const { _tag } = yield* askOne(apiKeys.use(({ issue }) => issue(key, idempotency)))
        note(_tag)
        if (_tag === "Created") issued.push(key)
      }
    })

    const revoke = Effect.suspend(() => {
      if (issued.length === 0) return Effect.void
      const { id, workspaceId } = random.pick(issued)
      const workspace = random.often(workspaceId, someWorkspace())
      return askOne(apiKeys.use(({ revoke }) => revoke(workspace, id, now)))
    })

    const touch = Effect.gen(function*() {
      const uses = new Map<Id.ApiKeyId, number>([[yield* Fixture.id("key"), now]])
      for (const { id } of random.shuffle(issued).slice(0, 4)) uses.set(id, now + random.pick([0, -second, second]))
      yield* askOne(apiKeys.use(({ touch }) => touch(uses)))
    })

    const signIn = Effect.gen(function*() {
      const session: SessionStore.StoredSession = {
        id: yield* Fixture.id("ses"),
        workspaceId: worlds[0]!.workspace.id,
        roles: null,
        address: null,
        agent: null,
        tokenHash: yield* Fixture.word,
        userId: worlds[0]!.owner.userId,
        createdAt: now,
        idleUntil: now + random.pick([minute, hour]),
        absoluteUntil: now + random.pick([hour, day])
      }
      signedIn.push(session)
      yield* askOne(sessions.use(({ create }) => create(session)))
    })

    const someSession = Effect.map(Fixture.word, (unknown) => random.pick(signedIn.slice(-8))?.tokenHash ?? unknown)

    const use = Effect.gen(function*() {
      const tokenHash = yield* someSession
      const idleUntil = now + random.pick([0, minute, hour, 2 * day])
      yield* askOne(sessions.use(({ use }) => use(tokenHash, now, idleUntil)))
    })

    const signOut = Effect.flatMap(someSession, (tokenHash) => askOne(sessions.use(({ remove }) => remove(tokenHash))))

    const bucketOf = () => ({
      key: random.pick([
        `workspace:${someWorkspace()}`,
        `phone_number:${random.pick(ofNumbers).id}`,
        "login:account:“1”",
        "login:address:2"
      ]),
      policy: random.pick(policies)
    })

    const spend = Effect.suspend(() =>
      ask(
        some().map(() => {
          const buckets = some().slice(0, 3).map(bucketOf)
          const at = now + random.pick([0, 0, 0, 1, -second])
          return RateLimitStore.RateLimitStore.use(({ spend }) => spend(buckets, at))
        })
      )
    )

    const giveBack = Effect.suspend(() => {
      const buckets = some().slice(0, 3).map(bucketOf)
      return askOne(RateLimitStore.RateLimitStore.use(({ giveBack }) => giveBack(buckets, now)))
    })

    const adopt = Effect.suspend(() => {
      const candidate = sealed()
      return askOne(PepperStore.PepperStore.use(({ adopt }) => adopt(candidate)))
    })

    const setWebhook = Effect.gen(function*() {
      const workspaceId = someWorkspace()
      const webhook: Webhook.Webhook = {
        id: yield* Fixture.id("whk"),
        workspaceId,
        url: `https://receiver.example/${yield* Fixture.word}`,
        envelope: random.pick(Event.Envelope.literals),
        eventTypes: Event.EventType.literals,
        secrets: [{ sealed: sealed(), expiresAt: null }],
        createdAt: now,
        updatedAt: now,
        pausedAt: null,
        resumedAt: null,
        health: WebhookHealth.initial
      }
      const put = yield* askOne(webhooks.use(({ put }) => put(webhook)))
      const rotation = {
        now,
        workspaceId,
        webhookId: random.often(put.webhook.id, webhook.id),
        secret: sealed(),
        previousExpiresAt: now + random.pick([0, minute, day])
      }
      yield* askOne(webhooks.use(({ rotateSecret }) => rotateSecret(rotation)))
    })

    /** The secrets under a key, page by page. A row's own secrets come in any order. */
    const under = (keyId: string, limit: number) =>
      Effect.gen(function*() {
        const store = yield* secrets
        const found: Array<SealedSecretStore.SealedSecret> = []
        for (;;) {
          const page = yield* store.under(keyId, { after: found.at(-1)?.row ?? null, limit })
          if (page.length === 0) return found
          found.push(
            ...page.toSorted((a, b) =>
              a.row === b.row ? a.sealed.nonce[0]! - b.sealed.nonce[0]! : a.row < b.row ? -1 : 1
            )
          )
        }
      })

    const rewrap = Effect.gen(function*() {
      const [from, to] = random.shuffle(masterKeys) as [string, string]
      const kept = yield* askOne(under(from, 100))
      const wanted = random.shuffle(kept).slice(0, 4).map(({ row, sealed: before }) => ({
        row,
        before: random.often(before, sealed()),
        after: { ...sealed(), keyId: to }
      }))
      note(String(yield* askOne(secrets.use(({ rewrap }) => rewrap(wanted)))))
    })

    const wait = Effect.sync(() => {
      now += random.pick([1, second, second, 10 * second, minute, 10 * minute, hour, day])
    })

    const check = Effect.gen(function*() {
      const limit = random.pick([1, 2, 100])
      yield* askOne(workspaces.use(({ list }) => list))
      yield* askOne(members.use(({ findByEmail }) => findByEmail(email)))
      yield* ask(worlds.map(({ owner }) => members.use(({ findByUserId }) => findByUserId(owner.userId))))
      yield* ask(worlds.map(({ workspace }) => workspaces.use(({ get }) => get(workspace.id))))
      yield* ask(worlds.map(({ workspace }) => webhooks.use(({ get }) => get(workspace.id))))
      yield* ask(worlds.map(({ workspace }) => numbers.use(({ list }) => list(workspace.id))))
      yield* ask(ofNumbers.map(({ id }) => numbers.use(({ credentials }) => credentials(id))))
      const names = ofNumbers.map(nameOf)
      yield* ask(names.map((name) => numbers.use(({ named }) => named(name))))
      yield* ask(
        worlds.map(({ workspace }) => apiKeys.use(({ list }) => all((page) => list(workspace.id, page, now), limit)))
      )
      // each storage returns its own time
      yield* ask(issued.map(({ tokenHash }) =>
        apiKeys.use(({ findByTokenHash }) =>
          Effect.map(findByTokenHash(tokenHash), Option.map(({ key, workspace }) => ({ key, workspace })))
        )
      ))
      const other = someWorkspace()
      yield* ask(issued.map(({ id }) => apiKeys.use(({ get }) => get(other, id))))
      yield* ask(masterKeys.map((keyId) => under(keyId, limit)))
    })

    const steps: Game["steps"] = [
      ["found", found],
      ["configure", configure],
      ["add number", addNumber],
      ["configure number", configureNumber],
      ["observe", observe],
      ["observe", observe],
      ["set credentials", setCredentials],
      ["issue", issue],
      ["issue", issue],
      ["revoke", revoke],
      ["touch", touch],
      ["sign in", signIn],
      ["use", use],
      ["use", use],
      ["sign out", signOut],
      ["spend", spend],
      ["spend", spend],
      ["give back", giveBack],
      ["adopt", adopt],
      ["set webhook", setWebhook],
      ["rewrap", rewrap],
      ["wait", wait],
      ["wait", wait],
      ["wait", wait]
    ]
    yield* found
    return { steps, check }
  }))
