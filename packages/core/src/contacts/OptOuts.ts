/**
 * The service for opt-outs (contract §13): people and programs opt customers out and in, import and export opt-outs,
 * and change the words by which customers opt out themselves.
 */
import { Clock, Context, Effect, Layer, Option, Stream } from "effect"
import { InvalidBody } from "../Errors.ts"
import type { WorkspaceId } from "../Id.ts"
import { PhoneNumberStore } from "../numbers/PhoneNumberStore.ts"
import { Vault } from "../secrets/Vault.ts"
import type { StoreError } from "../StoreError.ts"
import type { Instant } from "../Time.ts"
import type { Preference } from "./Contact.ts"
import * as ContactStep from "./ContactStep.ts"
import { ContactStore, type OptOut } from "./ContactStore.ts"
import * as CustomerNames from "./CustomerNames.ts"
import * as NameHashes from "./NameHashes.ts"
import * as OptOutWords from "./OptOutWords.ts"
import type { Source } from "./Suppression.ts"

/** A choice on behalf of a customer. */
export interface Choice {
  /**
   * Any name of the customer: a number in E.164 format, a user id, or another name by which the workspace knows a
   * customer.
   */
  readonly name: string
  /** The number that the choice is for; if omitted, every number of the workspace. */
  readonly phoneNumberId?: string
  readonly preference: Preference
  readonly source: Source
}

/** The state after a choice. */
export interface Chosen {
  readonly optedOut: boolean
  /** `null` if the customer is not opted out. */
  readonly at: Instant | null
  /** Who opted the customer out; `null` if nobody did. */
  readonly source: Source | null
  /** Whether the choice changed something. */
  readonly isNew: boolean
}

/** A line of an imported file: a name, or why the line cannot be read as a name. */
export interface Line {
  readonly line: number
  readonly value: string
  readonly reason?: string
}

/** A line that was not imported. */
export interface Refused {
  readonly line: number
  /** The text of the line, at most its first 200 characters. */
  readonly value: string
  readonly reason: string
}

/** The result of an import. */
export interface Imported {
  readonly added: number
  readonly already: number
  readonly refused: ReadonlyArray<Refused>
}

/**
 * The maximum number of lines that an import may refuse. If there are more, the file is not a list of names, and the
 * import fails.
 */
export const maxRefused = 10_000

const importing = 64
const listedAtOnce = 1000

/** The maximum number of tries of one choice. Each try may find further names or choices of the customer. */
const rounds = 10

export class OptOuts extends Context.Service<OptOuts, {
  /** Opts a customer out or in. Safe to repeat. Fails with `invalid_field` for a name that nobody can have. */
  readonly choose: (workspaceId: WorkspaceId, choice: Choice) => Effect.Effect<Chosen, InvalidBody | StoreError>
  /**
   * Opts out every name in a file, for every number of the workspace. If the import fails midway, the names before are
   * opted out. Importing the file again leaves the numbers on which customers have opted in since, if they stay opted out on others.
   * `onEnd` gets the result so far, however the import ends.
   */
  readonly import: <E>(
    workspaceId: WorkspaceId,
    lines: Stream.Stream<Line, E>,
    onEnd?: (soFar: Imported) => void
  ) => Effect.Effect<Imported, E | InvalidBody | StoreError>
  /** A keyed hash of a customer's name, by which audit entries identify the customer, as they do after an erasure. */
  readonly hashOf: (name: string) => Effect.Effect<string>
  /** The opted-out names, in pieces. Names of erased customers are not known any more, so they are left out. */
  readonly export: (workspaceId: WorkspaceId) => Stream.Stream<ReadonlyArray<OptOut>, StoreError>
  /** How many further names are opted out, of customers who were erased. */
  readonly countErased: (workspaceId: WorkspaceId) => Effect.Effect<number, StoreError>
  readonly words: (workspaceId: WorkspaceId) => Effect.Effect<OptOutWords.Settings, StoreError>
  /** Replaces the words of the workspace. */
  readonly configure: (
    workspaceId: WorkspaceId,
    words: OptOutWords.Settings
  ) => Effect.Effect<OptOutWords.Settings, InvalidBody | StoreError>
}>()("@wac/core/contacts/OptOuts") {
  static readonly layer = Layer.effect(
    OptOuts,
    Effect.gen(function*() {
      const store = yield* ContactStore
      const numbers = yield* PhoneNumberStore
      const vault = yield* Vault

      const checkName = Effect.fnUntraced(function*(workspaceId: WorkspaceId, name: string) {
        const isKnown = CustomerNames.isName(name) && CustomerNames.judge(name)._tag === "IfKnown" &&
          (yield* store.named(workspaceId, CustomerNames.keyOf(name))).some((contact) =>
            CustomerNames.isKnownBy(contact)(name)
          )
        const refusal = CustomerNames.refusal(name, isKnown, "name")
        if (refusal !== undefined) return yield* refusal
      })

      const numberOf = Effect.fnUntraced(function*(workspaceId: WorkspaceId, id: string | undefined) {
        if (id === undefined) return null
        const number = (yield* numbers.list(workspaceId)).find((number) => number.id === id)
        if (number !== undefined) return number.id
        return yield* new InvalidBody({
          reason: "invalid_field",
          param: "phoneNumberId",
          message: "the workspace has no phone number with this id"
        })
      })

      const choose = Effect.fn("OptOuts.choose")(function*(workspaceId: WorkspaceId, choice: Choice) {
        yield* checkName(workspaceId, choice.name)
        const phoneNumberId = yield* numberOf(workspaceId, choice.phoneNumberId)
        const name = CustomerNames.keyOf(choice.name)
        let names: ReadonlyArray<string> = [name]
        let choices = ContactStep.noChoices
        for (let round = 0; round < rounds; round++) {
          const chosen = yield* store.choose({
            now: yield* Clock.currentTimeMillis,
            workspaceId,
            phoneNumberId,
            name,
            hashes: yield* NameHashes.of(vault, workspaceId, names),
            preference: choice.preference,
            source: choice.source,
            choices
          })
          if (chosen._tag === "Chosen") {
            const { isNew, optOut } = chosen
            return {
              optedOut: choice.preference === "opt_out",
              at: optOut?.at ?? null,
              source: optOut?.source ?? null,
              isNew
            }
          }
          names = [...names, ...chosen.names]
          choices = chosen.choices
        }
        return yield* Effect.die(new Error("a customer gets names, or chooses, faster than a choice can be written"))
      })

      const importLine = Effect.fnUntraced(function*(workspaceId: WorkspaceId, { line, reason, value }: Line) {
        const refused = (reason: string) => ({ line, value: value.slice(0, 200), reason })
        if (reason !== undefined) return refused(reason)
        const choice = { name: value, preference: "opt_out", source: "import" } as const
        return yield* choose(workspaceId, choice).pipe(
          Effect.map(({ isNew }) => isNew ? "added" as const : "already" as const),
          Effect.catchTag("InvalidBody", ({ message }) => Effect.succeed(refused(message)))
        )
      })

      return OptOuts.of({
        choose,
        import: Effect.fn("OptOuts.import")(function*(workspaceId, lines, onEnd = () => {}) {
          const refused: Array<Refused> = []
          const counts = { added: 0, already: 0 }
          const count = (result: "added" | "already" | Refused) =>
            Effect.sync(() => {
              if (typeof result === "string") counts[result]++
            })
          yield* lines.pipe(
            // counted here, since results whose turn has not come are lost if the import fails
            Stream.mapEffect((line) => Effect.tap(importLine(workspaceId, line), count), { concurrency: importing }),
            Stream.runForEach((result) =>
              Effect.suspend(() => {
                if (typeof result !== "string") refused.push(result)
                return refused.length <= maxRefused ? Effect.void : Effect.fail(
                  new InvalidBody({
                    reason: "invalid_field",
                    message: `more than ${maxRefused} lines are not names, the first in line ${refused[0]!.line}`
                  })
                )
              })
            ),
            Effect.ensuring(Effect.sync(() => onEnd({ ...counts, refused })))
          )
          return { ...counts, refused }
        }),
        hashOf: (name) => vault.fingerprint(`customer ${CustomerNames.keyOf(name)}`),
        export: (workspaceId) =>
          Stream.paginate(null as string | null, (after) =>
            Effect.map(
              store.optOuts(workspaceId, { limit: listedAtOnce, after }),
              ({ items, next }) => [[items], next === null ? Option.none() : Option.some(next)] as const
            )),
        countErased: store.countErased,
        words: store.words,
        configure: Effect.fn("OptOuts.configure")(function*(workspaceId, words) {
          const refusal = OptOutWords.refusal(words)
          if (refusal !== undefined) return yield* refusal
          yield* store.setWords(workspaceId, words)
          return words
        })
      })
    })
  )
}
