/**
 * `/internal/stream`: what changes in the session's workspace, as server-sent events.
 */
import { Api, Caller } from "@wac/api"
import { Accounts, type Change, Changes, PageReceiver, type Session, Stopping, StoreError } from "@wac/core"
import { Duration, Effect, Exit, Scope, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"

/** How often the session is looked at, and proxies are shown that somebody is there. */
const beat = Duration.seconds(10)

/** The end of a stream whose session is not ours to look at: it is opened again, and the session asked for then. */
const longest = Duration.minutes(15)

const utf8 = new TextEncoder()

const opening = utf8.encode(": here\n\n")
const heartbeat = utf8.encode(": still here\n\n")
const frame = (event: string, data: object) => utf8.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const changes = yield* Changes.Changes
    const accounts = yield* Accounts.Accounts
    const stopping = yield* Stopping.Stopping
    const receivers = yield* PageReceiver.PageReceivers

    /** Whether the session is live: without using it, which would keep it alive as long as a page is open. */
    const isLive = (session: Session.Session) =>
      session.id === null
        ? Effect.succeed(true)
        : Effect.map(accounts.sessions(session), (all) =>
          all.some(({ id, workspaceId }) => id === session.id && workspaceId === session.workspaceId))

    /** What the stream is made of, until the session ends. */
    const frames = (
      session: Session.Session,
      next: Effect.Effect<ReadonlyArray<Change.Topic>>,
      receiver: PageReceiver.PageReceiver | undefined
    ) => {
      const told = Stream.map(Stream.fromEffectRepeat(next), (topics) => frame("change", { topics }))
      const received = receiver === undefined ? Stream.empty : Stream.fromEffectRepeat(
        // what a look cannot find the next one does
        Effect.delay(Effect.catch(receiver.next, () => Effect.succeed([])), Changes.pollEvery)
      ).pipe(
        Stream.flatMap((deliveries) => Stream.fromIterable(deliveries)),
        Stream.map((each) => frame("delivery", each))
      )
      const beats = Stream.fromEffectRepeat(
        // a storage that does not answer ends no session
        Effect.delay(Effect.catch(isLive(session), () => Effect.succeed(true)), beat)
      ).pipe(Stream.map((live) => live ? heartbeat : undefined))
      const first = receiver === undefined
        ? [opening]
        : [opening, frame("receiver", { signingSecret: receiver.signingSecret })]
      return Stream.fromIterable(first).pipe(
        Stream.concat(
          Stream.mergeAll([told, received, beats], { concurrency: "unbounded" }).pipe(
            Stream.takeWhile((frame): frame is Uint8Array<ArrayBuffer> => frame !== undefined)
          )
        ),
        Stream.interruptWhen(
          Effect.raceFirst(stopping.begun, session.id === null ? Effect.sleep(longest) : Effect.never)
        )
      )
    }

    return HttpApiBuilder.group(Api, "stream", (handlers) =>
      handlers.handleAll({
        open: Effect.fnUntraced(function*({ query }) {
          const session = yield* Caller.CurrentSession
          const scope = yield* Scope.make()
          const receiver = query.receive === undefined ? undefined : yield* receivers.open(session.workspaceId)
          const next = yield* Scope.provide(changes.watch(session.workspaceId), scope)
          return HttpServerResponse.stream(
            Stream.ensuring(frames(session, next, receiver), Scope.close(scope, Exit.void)),
            { contentType: "text/event-stream", headers: { "x-accel-buffering": "no" } }
          )
        }, StoreError.orUnavailable)
      }))
  })
)
