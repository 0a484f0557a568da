/**
 * The decisions for webhooks (contract §6): setting, pausing, resuming and removing them, and rotating their secrets.
 * `DeliveryStep` decides what attempts change. Pure.
 */
import type { WebhookId, WorkspaceId } from "../Id.ts"
import type { Sealed } from "../secrets/Sealed.ts"
import type { Decide, Known } from "../Step.ts"
import { judgedAt } from "../StorageTime.ts"
import type { Instant } from "../Time.ts"
import * as Webhook from "./Webhook.ts"

/**
 * Which held deliveries a resume attempts: all, none, or those of events recorded at or after a time. With a time, it
 * includes deliveries that a person retried after the first of these events.
 */
export type Replay = "all" | "none" | { readonly since: Instant }

/** The webhook after it was set, and whether that created it. */
export interface Put {
  readonly webhook: Webhook.Webhook
  readonly created: boolean
}

/** Gives a webhook a new secret. */
export interface RotateSecret {
  readonly workspaceId: WorkspaceId
  readonly webhookId: WebhookId
  /** Sealed for the webhook's row. */
  readonly secret: Sealed
  readonly previousExpiresAt: Instant
  readonly now: Instant
}

/** Pauses or removes a workspace's webhook. */
export interface Named {
  readonly workspaceId: WorkspaceId
  readonly now: Instant
}

/** Resumes a workspace's webhook. */
export interface Resume extends Named {
  readonly replay: Replay
}

/** The records that the steps load. */
export interface Loaded extends Known {
  /**
   * The workspace's present webhook, locked with its secrets. Its health may be a moment old, except for a resume or a
   * removal.
   */
  readonly present: (workspaceId: WorkspaceId) => Webhook.Webhook | undefined
}

/** The webhooks as they are after the step, each once. */
export interface Writes {
  readonly webhooks: ReadonlyArray<Webhook.Webhook>
}

/** A resumed webhook. */
export interface Resumption {
  readonly webhook: Webhook.Webhook
  readonly at: Instant
  /**
   * Held deliveries before the first event at or after `from` are skipped at `at`; all of them if `from` is `null`.
   * `undefined` skips none.
   */
  readonly skip: { readonly from: Instant | null } | undefined
}

/** The changes that resuming webhooks writes. */
export interface ResumeWrites {
  readonly resumed: ReadonlyArray<Resumption>
}

/** The removal of a webhook. Its deliveries that have not ended are skipped at `at`. */
export interface Removal {
  /** As it is shown with its deliveries from then on. */
  readonly webhook: Webhook.Webhook
  readonly at: Instant
}

/** The changes that removing webhooks writes. */
export interface RemoveWrites {
  readonly removed: ReadonlyArray<Removal>
}

/** The webhooks as the commands decided so far have left them. */
class Changed {
  private readonly loaded: Loaded
  private readonly webhooks = new Map<WorkspaceId, Webhook.Webhook>()

  constructor(loaded: Loaded) {
    this.loaded = loaded
  }

  of(workspaceId: WorkspaceId): Webhook.Webhook | undefined {
    return this.webhooks.get(workspaceId) ?? this.loaded.present(workspaceId)
  }

  keep(webhook: Webhook.Webhook): Webhook.Webhook {
    this.webhooks.set(webhook.workspaceId, webhook)
    return webhook
  }

  writes(): Writes {
    return { webhooks: [...this.webhooks.values()] }
  }
}

/**
 * Decides `WebhookStore.put`: the candidate if the workspace has no webhook, else `Webhook.configure` on the present
 * one.
 */
export const put: Decide<Webhook.Webhook, Loaded, Put, Writes> = (loaded, candidates) => {
  const changed = new Changed(loaded)
  const answers = candidates.map((candidate): Put => {
    const present = changed.of(candidate.workspaceId)
    return {
      webhook: changed.keep(present === undefined ? candidate : Webhook.configure(present, candidate)),
      created: present === undefined
    }
  })
  return { answers, writes: changed.writes() }
}

/**
 * Decides `WebhookStore.rotateSecret` (`Webhook.rotateSecrets`). The answer is the webhook; `undefined` if it is not,
 * or no longer, the workspace's webhook.
 */
export const rotateSecret: Decide<RotateSecret, Loaded, Webhook.Webhook | undefined, Writes> = (loaded, commands) => {
  const changed = new Changed(loaded)
  const answers = commands.map((command) => {
    const webhook = changed.of(command.workspaceId)
    if (webhook?.id !== command.webhookId) return undefined
    const rotation = judgedAt(command, loaded.now(command.now), "previousExpiresAt")
    return changed.keep({ ...webhook, secrets: Webhook.rotateSecrets(webhook.secrets, rotation) })
  })
  return { answers, writes: changed.writes() }
}

/** Decides `WebhookStore.pause` (`Webhook.pause`). The answer is the webhook. */
export const pause: Decide<Named, Loaded, Webhook.Webhook | undefined, Writes> = (loaded, commands) => {
  const changed = new Changed(loaded)
  const answers = commands.map(({ now, workspaceId }) => {
    const webhook = changed.of(workspaceId)
    if (webhook === undefined || webhook.pausedAt !== null) return webhook
    return changed.keep(Webhook.pause(webhook, loaded.now(now)))
  })
  return { answers, writes: changed.writes() }
}

/** Decides `WebhookStore.resume` (`Webhook.resume`). Active webhooks stay as they are. The answer is the webhook. */
export const resume: Decide<Resume, Loaded, Webhook.Webhook | undefined, ResumeWrites> = (loaded, commands) => {
  const changed = new Changed(loaded)
  const resumed: Array<Resumption> = []
  const answers = commands.map(({ now, replay, workspaceId }) => {
    const before = changed.of(workspaceId)
    if (before === undefined || before.pausedAt === null) return before
    const at = loaded.now(now)
    const webhook = changed.keep(Webhook.resume(before, at))
    const skip = replay === "all" ? undefined : { from: replay === "none" ? null : replay.since }
    resumed.push({ webhook, at, skip })
    return webhook
  })
  return { answers, writes: { resumed } }
}

/** Decides `WebhookStore.remove`. The answer is whether there was a webhook. */
export const remove: Decide<Named, Loaded, boolean, RemoveWrites> = (loaded, commands) => {
  const removed = new Map<WorkspaceId, Removal>()
  const answers = commands.map(({ now, workspaceId }) => {
    const webhook = removed.has(workspaceId) ? undefined : loaded.present(workspaceId)
    if (webhook === undefined) return false
    removed.set(workspaceId, { webhook: { ...webhook, pausedAt: null }, at: loaded.now(now) })
    return true
  })
  return { answers, writes: { removed: [...removed.values()] } }
}
