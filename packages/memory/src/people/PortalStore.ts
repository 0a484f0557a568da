/**
 * `PortalStore` in memory: each method is one synchronous step over `State`; `PortalStep` decides *open*.
 */
import { type Portal, PortalStep, PortalStore, StorageTime } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"

const open = (memory: Memory, command: PortalStep.Open): Portal.Portal | undefined => {
  const { answers, writes } = PortalStep.open({
    now: memory.now,
    kept: (tokenHash) => memory.portals.get(tokenHash)
  }, [command])
  for (const { session, tokenHash } of writes) {
    memory.portals.delete(tokenHash)
    memory.portals.set(session.tokenHash, { portal: session, isOpen: true }, session.createdAt)
  }
  return answers[0]
}

export const layer = Layer.effect(
  PortalStore.PortalStore,
  Effect.map(State, (memory) =>
    PortalStore.PortalStore.of({
      create: (link) =>
        Effect.sync(() => {
          const createdAt = memory.now(link.createdAt)
          const portal = StorageTime.createdAt(link, createdAt, "expiresAt")
          memory.portals.set(link.tokenHash, { portal, isOpen: false }, createdAt)
          return portal
        }),
      open: (command) => Effect.sync(() => Option.fromUndefinedOr(open(memory, command))),
      find: (sessionHash, asked) =>
        Effect.sync(() => {
          const found = memory.portals.get(sessionHash)
          return found?.isOpen === true && found.portal.expiresAt > memory.now(asked)
            ? Option.some(found.portal)
            : Option.none()
        }),
      forget: (before) =>
        Effect.sync(() => ({
          removed: memory.portals.forget(({ portal }) => portal.expiresAt <= before),
          isMore: false
        })),
      end: (sessionHash) =>
        Effect.sync(() => {
          if (memory.portals.get(sessionHash)?.isOpen === true) memory.portals.delete(sessionHash)
        })
    }))
)
