/**
 * Meta's documented error codes, and what each must mean to a caller. Written from Meta's list, independently of the
 * adapter's table.
 */
export interface Documented {
  readonly code: number
  readonly error: string
  readonly reason: string
  /** In seconds. */
  readonly retryAfter: number | null
  /** The effect on later messages. */
  readonly effect: string | undefined
}

const table: ReadonlyArray<
  readonly [code: number, error: string, reason: string, retryAfter?: number | null, effect?: string]
> = [
  [0, "server_error", "provider_error", null, "block number credentials"],
  [1, "server_error", "provider_error"],
  [2, "server_error", "provider_unavailable"],
  [3, "server_error", "provider_error", null, "block number credentials"],
  [4, "rate_limited", "provider", 60],
  [10, "server_error", "provider_error", null, "block number credentials"],
  [17, "rate_limited", "provider", 60],
  [33, "forbidden", "sender_not_available", null, "block number registration"],
  [100, "invalid_body", "invalid_field"],
  [102, "server_error", "provider_error", null, "block number credentials"],
  [190, "server_error", "provider_error", null, "block number credentials"],
  [200, "server_error", "provider_error", null, "block number credentials"],
  [341, "rate_limited", "provider", 60],
  [368, "forbidden", "sender_not_available", null, "block account restricted"],
  [613, "rate_limited", "provider", 60],
  [80007, "rate_limited", "provider", 60],
  [80008, "rate_limited", "provider", 60],
  [130429, "rate_limited", "provider", 1],
  [130472, "forbidden", "provider_policy"],
  [130497, "forbidden", "provider_policy"],
  [131000, "server_error", "provider_error"],
  [131005, "server_error", "provider_error", null, "block number credentials"],
  [131008, "invalid_body", "invalid_field"],
  [131009, "invalid_body", "invalid_field"],
  [131016, "server_error", "provider_unavailable"],
  [131021, "invalid_body", "undeliverable"],
  [131026, "invalid_body", "undeliverable"],
  [131030, "invalid_body", "undeliverable"],
  [131031, "forbidden", "sender_not_available", null, "block account restricted"],
  [131037, "forbidden", "sender_not_available", null, "block number display_name"],
  [131042, "forbidden", "sender_not_available", null, "block account payment"],
  [131043, "invalid_body", "undeliverable"],
  [131045, "forbidden", "sender_not_available", null, "block number registration"],
  [131047, "forbidden", "outside_service_window"],
  [131048, "rate_limited", "provider", 3600, "block number quality"],
  [131049, "forbidden", "provider_policy"],
  [131050, "forbidden", "opted_out", null, "opt out"],
  [131051, "invalid_body", "invalid_field"],
  [131052, "server_error", "provider_error"],
  [131053, "server_error", "provider_error"],
  [131056, "rate_limited", "pair", 6],
  [131057, "server_error", "provider_unavailable", 60],
  [131062, "invalid_body", "undeliverable"],
  [131063, "forbidden", "template_not_approved"],
  [131064, "rate_limited", "provider", 3600, "block number quality"],
  [132000, "invalid_body", "template_params_mismatch", null, "list templates"],
  [132001, "forbidden", "template_not_found", null, "list templates"],
  [132005, "invalid_body", "template_params_mismatch"],
  [132007, "invalid_body", "template_params_mismatch"],
  [132008, "invalid_body", "template_params_mismatch", null, "list templates"],
  [132012, "invalid_body", "template_params_mismatch", null, "list templates"],
  [132015, "forbidden", "template_not_approved", null, "template paused"],
  [132016, "forbidden", "template_not_approved", null, "template disabled"],
  [132018, "invalid_body", "template_params_mismatch"],
  [132068, "forbidden", "template_not_approved"],
  [132069, "rate_limited", "provider", 360],
  [133000, "forbidden", "sender_not_available"],
  [133004, "server_error", "provider_unavailable"],
  [133005, "forbidden", "sender_not_available"],
  [133006, "forbidden", "sender_not_available"],
  [133008, "forbidden", "sender_not_available"],
  [133009, "forbidden", "sender_not_available"],
  [133010, "forbidden", "sender_not_available", null, "block number registration"],
  [133015, "forbidden", "sender_not_available"],
  [133016, "rate_limited", "provider", 3600],
  [134011, "forbidden", "sender_not_available"],
  [134100, "forbidden", "template_not_approved"],
  [134101, "server_error", "provider_unavailable", 600],
  [134102, "forbidden", "template_not_approved"],
  [134103, "forbidden", "sender_not_available"],
  [135000, "invalid_body", "invalid_field"],
  [2494100, "server_error", "provider_unavailable", 60]
]

export const all: ReadonlyArray<Documented> = table.map(
  ([code, error, reason, retryAfter = null, effect]) => ({ code, error, reason, retryAfter, effect })
)
