/**
 * What the transitions of webhooks decide (contract §6): setting, pausing, resuming and removing them, and changing their
 * secrets. What attempts make of a webhook is decided in `DeliveryStep`.
 */
import type { WebhookId, WorkspaceId } from "../Id.ts"
import type { Sealed } from "../secrets/Sealed.ts"
import type { Decide, Known } from "../Step.ts"
import { judgedAt } from "../StorageTime.ts"
import type { Instant } from "../Time.ts"
import * as Webhook from "./Webhook.ts"

/**
 * What is made of the held deliveries: all are attempted, none, or those of events recorded at or after a time, and
 * with them what a person asked for again after the first of these.
 */
export type Replay = "all" | "none" | { readonly since: Instant }

/** A webhook as it was set, and whether that has created it. */
export interface Put {
  readonly webhook: Webhook.Webhook
  readonly created: boolean
}

/** A webhook gets another secret. */
export interface RotateSecret {
  readonly workspaceId: WorkspaceId
  readonly webhookId: WebhookId
  /** Sealed for the webhook's row. */
  readonly secret: Sealed
  readonly previousExpiresAt: Instant
  readonly now: Instant
}

/** A person pauses the webhook of a workspace, or removes it. */
export interface Named {
  readonly workspaceId: WorkspaceId
  readonly now: Instant
}

/** A person resumes the webhook of a workspace. */
export interface Resume extends Named {
  readonly replay: Replay
}

/** What the steps load. */
export interface Loaded extends Known {
  /**
   * The present webhook of a workspace, locked with its secrets. Its health may be a moment old, but for a resume and a
   * removal.
   */
  readonly present: (workspaceId: WorkspaceId) => Webhook.Webhook | undefined
}

/** The webhooks as they are after the step, each once. */
export interface Writes {
  readonly webhooks: ReadonlyArray<Webhook.Webhook>
}

/** A webhook that was resumed at a time. */
export interface Resumption {
  readonly webhook: Webhook.Webhook
  readonly at: Instant
  /**
   * What was held before the first event at or after `from` is skipped as of `at`, and all that was held where that is
   * `null`; `undefined`: nothing is.
   */
  readonly skip: { readonly from: Instant | null } | undefined
}

/** What resuming webhooks writes. */
export interface ResumeWrites {
  readonly resumed: ReadonlyArray<Resumption>
}

/** A webhook is removed, and all that has not ended of its deliveries is skipped as of `at`. */
export interface Removal {
  /** As it is shown beside its deliveries from then on. */
  readonly webhook: Webhook.Webhook
  readonly at: Instant
}

/** What removing webhooks writes. */
export interface RemoveWrites {
  readonly removed: ReadonlyArray<Removal>
}

/** The webhooks as the commands so far have left them. */
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

/** Sets webhooks: the candidate if its workspace has none, else `Webhook.configure` of the present one. */
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
 * Gives webhooks other secrets (`Webhook.rotateSecrets`). Answers with the webhook, unless it is not, or no longer, that
 * of the workspace.
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

/** Pauses webhooks (`Webhook.pause`). Answers with the webhook. */
export const pause: Decide<Named, Loaded, Webhook.Webhook | undefined, Writes> = (loaded, commands) => {
  const changed = new Changed(loaded)
  const answers = commands.map(({ now, workspaceId }) => {
    const webhook = changed.of(workspaceId)
    if (webhook === undefined || webhook.pausedAt !== null) return webhook
    return changed.keep(Webhook.pause(webhook, loaded.now(now)))
  })
  return { answers, writes: changed.writes() }
}

/** Resumes webhooks (`Webhook.resume`); active ones stay as they are. Answers with the webhook. */
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

/** Removes webhooks. Answers whether there was one. */
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
