/**
 * The handler of `/internal/stream`: the changes in the session's workspace, as server-sent events.
 */
import { Api, Caller, type StreamApi } from "@wac/api"
import { Accounts, type Change, Changes, PageReceiver, type Session, Stopping, StoreError } from "@wac/core"
import { Duration, Effect, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import * as HandlerGroup from "../HandlerGroup.ts"

/** How often the session is checked and a comment is sent, so that proxies keep the stream open. */
const beat = Duration.seconds(10)

/**
 * The maximum length of a stream whose session a host manages: the browser reopens it, which checks the session again.
 */
const longest = Duration.minutes(15)

const utf8 = new TextEncoder()

const opening = utf8.encode(": here\n\n")
const heartbeat = utf8.encode(": still here\n\n")
type Events = typeof StreamApi.events
const frame = <Name extends keyof Events>(event: Name, data: Events[Name]["Encoded"]) =>
  utf8.encode(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`)

export const layer = HandlerGroup.layer(
  Effect.gen(function*() {
    const changes = yield* Changes.Changes
    const accounts = yield* Accounts.Accounts
    const stopping = yield* Stopping.Stopping
    const receivers = yield* PageReceiver.PageReceivers

    /** The hash of the session's token. Reading it does not use the session, so an open page does not keep it alive. */
    const tokenHashOf = (session: Session.Session) =>
      Effect.map(
        accounts.sessions(session),
        (all) => all.find(({ id, workspaceId }) => id === session.id && workspaceId === session.workspaceId)?.tokenHash
      )

    /** Whether the session is live, with the token with which the stream was opened. */
    const isLive = (session: Session.Session, opened: string | undefined) =>
      session.id === null
        ? Effect.succeed(true)
        : Effect.map(tokenHashOf(session), (tokenHash) => tokenHash !== undefined && tokenHash === opened)

    /** The content of the stream, until the session ends. */
    const frames = (
      session: Session.Session,
      tokenHash: string | undefined,
      next: Effect.Effect<ReadonlyArray<Change.Topic>>,
      receiver: PageReceiver.PageReceiver | undefined
    ) => {
      const changeFrames = Stream.map(Stream.fromEffectRepeat(next), (topics) => frame("change", { topics }))
      const received = receiver === undefined ? Stream.empty : Stream.fromEffectRepeat(
        // events that this poll cannot read come with the next one
        Effect.delay(Effect.catch(receiver.next, () => Effect.succeed([])), Changes.pollEvery)
      ).pipe(
        Stream.flatMap((deliveries) => Stream.fromIterable(deliveries)),
        Stream.map((each) => frame("delivery", each))
      )
      const beats = Stream.fromEffectRepeat(
        // the stream continues while the storage is unavailable
        Effect.delay(Effect.catch(isLive(session, tokenHash), () => Effect.succeed(true)), beat)
      ).pipe(Stream.map((live) => live ? heartbeat : undefined))
      const first = receiver === undefined
        ? [opening]
        : [opening, frame("receiver", { signingSecret: receiver.signingSecret })]
      return Stream.fromIterable(first).pipe(
        Stream.concat(
          Stream.mergeAll([changeFrames, received, beats], { concurrency: "unbounded" }).pipe(
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
          const tokenHash = session.id === null ? undefined : yield* tokenHashOf(session)
          const receiver = query.receive === undefined ? undefined : yield* receivers.open(session.workspaceId)
          // in the request's scope, which closes after the response whether or not the stream was sent
          const next = yield* changes.watch(session.workspaceId)
          return HttpServerResponse.stream(frames(session, tokenHash, next, receiver), {
            contentType: "text/event-stream",
            headers: { "x-accel-buffering": "no" }
          })
        }, StoreError.orUnavailable)
      }))
  })
)
