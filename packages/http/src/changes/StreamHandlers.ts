/**
 * `/internal/stream`: what changes in the session's workspace, as server-sent events.
 */
import { Api, Caller } from "@wac/api"
import { Accounts, type Change, Changes, type Session, Stopping, StoreError } from "@wac/core"
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
const news = (topics: ReadonlyArray<Change.Topic>) =>
  utf8.encode(`event: change\ndata: ${JSON.stringify({ topics })}\n\n`)

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const changes = yield* Changes.Changes
    const accounts = yield* Accounts.Accounts
    const stopping = yield* Stopping.Stopping

    /** Whether the session is live: without using it, which would keep it alive as long as a page is open. */
    const isLive = (session: Session.Session) =>
      session.id === null
        ? Effect.succeed(true)
        : Effect.map(accounts.sessions(session), (all) =>
          all.some(({ id, workspaceId }) => id === session.id && workspaceId === session.workspaceId))

    /** What the stream is made of, until the session ends. */
    const frames = (session: Session.Session, next: Effect.Effect<ReadonlyArray<Change.Topic>>) => {
      const beats = Stream.fromEffectRepeat(Effect.delay(isLive(session), beat)).pipe(
        // a storage that does not answer ends no session
        Stream.catch(() => Stream.succeed(true)),
        Stream.map((live) => live ? heartbeat : undefined)
      )
      return Stream.make(opening).pipe(
        Stream.concat(
          Stream.merge(Stream.map(Stream.fromEffectRepeat(next), news), beats).pipe(
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
        open: Effect.fnUntraced(function*() {
          const session = yield* Caller.CurrentSession
          const scope = yield* Scope.make()
          const next = yield* Scope.provide(changes.watch(session.workspaceId), scope)
          return HttpServerResponse.stream(
            Stream.ensuring(frames(session, next), Scope.close(scope, Exit.void)),
            { contentType: "text/event-stream", headers: { "x-accel-buffering": "no" } }
          )
        }, StoreError.orUnavailable)
      }))
  })
)
