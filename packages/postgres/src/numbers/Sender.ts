/**
 * SQL that finds the phone number from which a message is sent.
 */

/** The SQL expressions that determine the number. */
export interface SenderOf {
  readonly workspaceId: string
  /** The running provider's name. */
  readonly provider: string
  /** The phone number or the id that the message names as its sender; null if it names none. */
  readonly named: string
}

/**
 * A `left join lateral` of the number that a message names, or else the workspace's default number at the provider. Its
 * alias is `p`, and its columns are `what`.
 */
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
