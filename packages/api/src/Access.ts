/**
 * Who may call an endpoint: an annotation on every one, read by the server's authentication and by the test that
 * walks over all of them.
 */
import type { ApiScope, Member } from "@wac/core"
import { Context } from "effect"

export type Access =
  /** Anybody. */
  | { readonly _tag: "Public" }
  /** Holders of a live API key with the scope. */
  | { readonly _tag: "ApiKey"; readonly scope: ApiScope.ApiScope }
  /** Members of the workspace with at least the role, in a dashboard session. */
  | { readonly _tag: "Session"; readonly role: Member.Role }

/** The annotation's key. An endpoint without it is refused to everybody. */
export const Access = Context.Service<Access>("@wac/api/Access")

/** Whether a session of the portal may call an endpoint too (contract §12), if its role is enough. */
export const OpenToPortal = Context.Reference<boolean>("@wac/api/OpenToPortal", { defaultValue: () => false })

/** For anybody. */
export const anybody: Access = { _tag: "Public" }

/** For holders of a live API key with the scope. */
export const apiKey = (scope: ApiScope.ApiScope): Access => ({ _tag: "ApiKey", scope })

/** For members with at least the role, in a dashboard session. */
export const session = (role: Member.Role): Access => ({ _tag: "Session", role })
