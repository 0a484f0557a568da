/**
 * Access to an endpoint: an annotation on every endpoint, which the server's authentication enforces and a test checks
 * for all of them.
 */
import type { ApiScope, Member } from "@wac/core"
import { Context } from "effect"

export type Access =
  /** No authentication. */
  | { readonly _tag: "Public" }
  /** Holders of a live API key with the scope. */
  | { readonly _tag: "ApiKey"; readonly scope: ApiScope.ApiScope }
  /** Members of the workspace with at least the role, in a dashboard session. */
  | { readonly _tag: "Session"; readonly role: Member.Role }

/** The annotation's key. An endpoint without the annotation refuses every caller. */
export const Access = Context.Service<Access>("@wac/api/Access")

/** Whether a portal session may also call an endpoint (contract §12), if its role is sufficient. */
export const OpenToPortal = Context.Reference<boolean>("@wac/api/OpenToPortal", { defaultValue: () => false })

/**
 * Whether an endpoint requires a session whose person proved their presence a short time ago (contract §17). Sessions
 * of a host and of a portal always count as proven: they are the host's.
 */
export const NeedsFreshSession = Context.Reference<boolean>("@wac/api/NeedsFreshSession", {
  defaultValue: () => false
})

/** Opens an endpoint to every caller, without authentication. */
export const anybody: Access = { _tag: "Public" }

/** Restricts an endpoint to live API keys with the scope. */
export const apiKey = (scope: ApiScope.ApiScope): Access => ({ _tag: "ApiKey", scope })

/** Restricts an endpoint to dashboard sessions of members with at least the role. */
export const session = (role: Member.Role): Access => ({ _tag: "Session", role })
