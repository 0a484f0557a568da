/**
 * `PortalStore` in memory: each method is one synchronous step over `State`.
 */
import { PortalStore } from "@wac/core"
import { Effect, Layer, Option } from "effect"
import { type Memory, State } from "../State.ts"

const open = (memory: Memory, { expiresAt, now: asked, sessionHash, tokenHash }: PortalStore.OpenPortal) => {
  const now = memory.now(asked)
  const link = memory.portals.get(tokenHash)
  if (link === undefined || link.isOpen || link.expiresAt <= now) return Option.none()
  memory.portals.delete(tokenHash)
  const { isOpen: _, ...portal } = link
  const opened = { ...portal, tokenHash: sessionHash, createdAt: now, expiresAt: now + expiresAt - asked }
  memory.portals.set(sessionHash, { ...opened, isOpen: true }, now)
  return Option.some(opened)
}

export const layer = Layer.effect(
  PortalStore.PortalStore,
  Effect.map(State, (memory) =>
    PortalStore.PortalStore.of({
      create: (link) =>
        Effect.sync(() => {
          const createdAt = memory.now(link.createdAt)
          const kept = { ...link, createdAt, expiresAt: createdAt + link.expiresAt - link.createdAt, isOpen: false }
          memory.portals.set(link.tokenHash, kept, createdAt)
        }),
      open: (command) => Effect.sync(() => open(memory, command)),
      find: (sessionHash, asked) =>
        Effect.sync(() => {
          const found = memory.portals.get(sessionHash)
          if (found === undefined || !found.isOpen || found.expiresAt <= memory.now(asked)) return Option.none()
          const { isOpen: _, ...portal } = found
          return Option.some(portal)
        }),
      // expired ones are dropped as the map grows
      forget: () => Effect.succeed(false),
      end: (sessionHash) =>
        Effect.sync(() => {
          if (memory.portals.get(sessionHash)?.isOpen === true) memory.portals.delete(sessionHash)
        })
    }))
)
