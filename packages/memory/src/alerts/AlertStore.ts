/**
 * `AlertStore` in memory: each method is one synchronous step over `State`, decided by `AlertStep`.
 */
import { Alert, AlertStep, AlertStore } from "@wac/core"
import { Effect, Layer } from "effect"
import { type Memory, State } from "../State.ts"

const notificationName = (alert: Alert.Alert): string => `${alert.id} ${AlertStep.changeOf(alert)}`

const observe = (memory: Memory, command: AlertStep.Observe): AlertStep.Observed => {
  const { answers, writes } = AlertStep.observe({
    now: memory.now,
    open: (workspaceId) => memory.alerts.all(workspaceId).filter(({ closedAt }) => closedAt === null),
    unfinished: (workspaceId) =>
      [...memory.alertNotifications.values()].filter(({ alert }) => alert.workspaceId === workspaceId)
  }, [command])
  for (const alert of [...writes.opened, ...writes.closed]) memory.alerts.set(alert)
  for (const one of writes.notifications) memory.alertNotifications.set(notificationName(one.alert), one)
  return answers[0]!
}

export const layer = Layer.effect(
  AlertStore.AlertStore,
  Effect.map(State, (memory) =>
    AlertStore.AlertStore.of({
      observe: (command) => Effect.sync(() => observe(memory, command)),
      finish: (alert) => Effect.sync(() => memory.alertNotifications.delete(notificationName(alert))),
      list: (workspaceId, { open }, page) =>
        Effect.sync(() =>
          memory.alerts.page(
            workspaceId,
            page,
            ({ closedAt, kind }) => Alert.kinds.includes(kind) && (open !== true || closedAt === null)
          )
        ),
      during: (workspaceId, subject, { since, until }) =>
        Effect.sync(() =>
          memory.alerts.all(workspaceId).filter((alert) =>
            alert.subject === subject && alert.openedAt < until && (alert.closedAt ?? Infinity) > since
          ).toSorted((a, b) => a.id < b.id ? -1 : 1)
        ),
      settings: (workspaceId) => Effect.sync(() => memory.alertSettings.get(workspaceId) ?? Alert.noSettings),
      configure: (workspaceId, settings) => Effect.sync(() => memory.alertSettings.set(workspaceId, settings)),
      forget: (before) =>
        Effect.sync(() => ({
          removed: memory.alerts.forget(({ closedAt }) => closedAt !== null && closedAt < before),
          isMore: false
        }))
    }))
)
