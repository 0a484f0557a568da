/**
 * Properties over both storages: PostgreSQL and memory get the same random commands, must answer alike, and must hold
 * the same afterwards. A test's title contains its seed, and a failure lists the commands that led to it.
 */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { ApiKeyStore, Errors, type Idempotency, type Page, type Ports, TemplateStore, WorkspaceStore } from "@wac/core"
import { MemoryStorage } from "@wac/memory"
import { Fixture, SeededRandom } from "@wac/testkit"
import { Cause, Context, Effect, Layer, Predicate, type Scope } from "effect"
import { Hex } from "effect/encoding"
import * as PostgresStorage from "../src/PostgresStorage.ts"
import * as Storage from "../src/Storage.ts"
import { databases } from "./servers.ts"

class Memory extends Context.Service<Memory, Context.Context<Ports.Ports>>()(
  "@wac/postgres/test/agreement/Memory"
) {}

/** Requirements of a command, and of the whole property. The ports are PostgreSQL's. */
export type Needs = Fixture.Services | Scope.Scope | Memory | PgClient.PgClient

/** Carries out a step in memory only. */
const remember = <A, E, R>(
  step: Effect.Effect<A, E, R>
): Effect.Effect<A, E, Exclude<R, Ports.Ports> | Memory> =>
  Effect.flatMap(Memory, (memory) => Effect.provideContext(step, memory))

/** An answer with its errors as class, fields and message, and its bytes as text. */
const plain = (value: unknown): unknown =>
  Errors.isDomainError(value)
    ? { class: value._tag, ...value, message: value.message }
    : value instanceof Uint8Array
    ? Hex.encode(value)
    : Array.isArray(value)
    ? value.map(plain)
    : typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype
    ? Object.fromEntries(Object.entries(value).map(([name, field]) => [name, plain(field)]))
    : value

/** The first difference between two answers: its place and both values; `undefined` if they are equal. */
const difference = (ours: unknown, memorys: unknown, path = ""): string | undefined => {
  if (!Predicate.isObjectOrArray(ours) || !Predicate.isObjectOrArray(memorys)) {
    return ours === memorys ? undefined : `${path}: ${JSON.stringify(ours)} is not memory's ${JSON.stringify(memorys)}`
  }
  for (const name of new Set([...Object.keys(ours), ...Object.keys(memorys)])) {
    const found = difference(Reflect.get(ours, name), Reflect.get(memorys, name), `${path}/${name}`)
    if (found !== undefined) return found.includes("\n") ? found : `${found}\nin ${JSON.stringify(ours)}`
  }
  return undefined
}

/**
 * Sends all commands to PostgreSQL concurrently, in one batch if the operation has batches, and to memory one after
 * another.
 */
export const ask = <A, E>(
  questions: ReadonlyArray<Effect.Effect<A, E, Ports.Ports>>
): Effect.Effect<ReadonlyArray<A>, E, Ports.Ports | Memory> =>
  Effect.gen(function*() {
    const answers = yield* Effect.all(questions, { concurrency: "unbounded" })
    const expected = yield* remember(Effect.all(questions))
    answers.forEach((answer, i) => {
      const [ours, memorys] = [plain(answer), plain(expected[i])]
      const where = difference(ours, memorys)
      assert.deepStrictEqual(ours, memorys, `command ${i + 1} of ${answers.length}: ${where}`)
    })
    return answers
  })

/** Sends one command to both. */
export const askOne = <A, E>(question: Effect.Effect<A, E, Ports.Ports>) =>
  Effect.map(ask([question]), ([answer]) => answer!)

/** A whole list, page by page. */
export const all = <A, E, R>(
  page: (request: Page.PageRequest) => Effect.Effect<Page.Page<A>, E, R>,
  limit = 100
): Effect.Effect<ReadonlyArray<A>, E, R> =>
  Effect.gen(function*() {
    const found: Array<A> = []
    let after: string | null = null
    do {
      const { items, next }: Page.Page<A> = yield* page({ limit, after })
      found.push(...items)
      after = next
    } while (after !== null)
    return found
  })

/** A workspace that both storages know, with its number, key and templates. */
export const world = Effect.fnUntraced(function*(options?: Fixture.WorldOptions) {
  const own = yield* Fixture.world(options)
  const { key, number, workspace } = own
  yield* remember(WorkspaceStore.WorkspaceStore.use((store) => store.create({ workspace, phoneNumber: number })))
  const idempotency = { key: (yield* Fixture.word) as Idempotency.IdempotencyKey, fingerprint: "one" }
  yield* remember(ApiKeyStore.ApiKeyStore.use((store) => store.issue(key, idempotency)))
  const ids = yield* Effect.replicateEffect(Fixture.id("tpl"), Fixture.templates.length)
  const { createdAt: listedAt, id: workspaceId } = workspace
  const listing = { now: listedAt, listedAt, workspaceId, providerAccountId: number.providerAccountId, ids }
  for (const listed of [[], Fixture.templates]) {
    yield* askOne(TemplateStore.TemplateStore.use((store) => store.replaceAll({ ...listing, listed })))
  }
  return own
})

type Step = Effect.Effect<unknown, unknown, Needs>

/** The steps of a property; each one is picked with the same probability. */
export interface Game {
  readonly steps: ReadonlyArray<readonly [name: string, step: Step]>
  /** Compares what both storages hold. */
  readonly check: Step
}

export interface Options {
  /** The number of steps for a seed. */
  readonly length: number
  /** The storages are compared after this many steps, and at the end. */
  readonly checkEvery: number
}

/** Empties every table. Later tables refer to earlier ones. */
const emptied = PgClient.PgClient.use((client) =>
  client.unsafe(`do $$ declare
    of_table text;
  begin
    for of_table in
      select 'wac.' || quote_ident(tablename) from pg_tables
      where schemaname = 'wac' and tablename <> 'schema_versions'
      order by ('wac.' || quote_ident(tablename))::regclass::oid desc
    loop
      execute 'delete from ' || of_table;
    end loop;
  end $$`)
)

const play = (
  { checkEvery, length }: Options,
  game: Effect.Effect<Game, unknown, Needs>,
  random: SeededRandom.SeededRandom,
  history: Array<string>
) =>
  Effect.gen(function*() {
    yield* emptied
    const { check, steps } = yield* game
    for (let i = 1; i <= length; i++) {
      const [name, step] = random.pick(steps)
      history.push(name)
      yield* step
      if (i % checkEvery === 0 || i === length) yield* check
    }
  }).pipe(
    Effect.provide(
      Layer.effect(Memory, Layer.build(Layer.fresh(Layer.provide(MemoryStorage.layer, Fixture.timeOfAsker))))
    ),
    Effect.catchCause((cause) =>
      Effect.die(new Error(`after:\n${history.slice(-40).join("\n")}\n${Cause.pretty(cause)}`))
    )
  )

/** Registers the property. `begin` creates the steps for a seed; a failure reports what it notes. */
export const property = (
  options: Options,
  begin: (random: SeededRandom.SeededRandom, note: (line: string) => void) => Effect.Effect<Game, unknown, Needs>
): void => {
  for (const { layer: database, name } of databases) {
    const storage = Layer.mergeAll(PostgresStorage.layer, Storage.layer(name, false)).pipe(Layer.provideMerge(database))
    // fewer, because PGlite runs the same statements
    const seeds = name === "PGlite" ? 4 : 25

    layer(Layer.merge(storage, Fixture.layer), { excludeTestServices: true })(name, (it) => {
      it.effect.each(Array.from({ length: seeds }, (_, i) => ({ seed: i + 1 })))(
        "PostgreSQL agrees with memory, seed $seed",
        ({ seed }) =>
          Effect.suspend(() => {
            const random = SeededRandom.make(seed)
            const history: Array<string> = []
            return play(options, begin(random, (line) => void history.push(`  ${line}`)), random, history)
          })
      )
    })
  }
}
