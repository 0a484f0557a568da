/**
 * SQL that joins the number that sends a message.
 */

/** Expressions of the statement that joins it. */
export interface SenderOf {
  readonly workspaceId: string
  /** The running provider's name. */
  readonly provider: string
  /** The digits or the id of the number that the message names; null if it names none. */
  readonly named: string
}

/** Joins the number that a message names, else the workspace's default number at the provider, as `p` with `what`. */
export const sender = (what: string, { named, provider, workspaceId }: SenderOf): string =>
  `left join lateral (
    select ${what} from wac.phone_numbers p
    where ${named} is null and p.workspace_id = ${workspaceId} and p.provider = ${provider} and p.is_default
    union all
    select ${what} from wac.phone_numbers p where p.workspace_id = ${workspaceId} and p.phone_number = ${named}
    union all
    select ${what} from wac.phone_numbers p where p.id = ${named} and p.workspace_id = ${workspaceId}
    limit 1
  ) p on true`
