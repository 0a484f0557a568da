/** Roles, from the least to the most, and scopes of keys. Written from the API definition; do not edit. */

export const roles = ["member", "developer", "admin", "owner"] as const
export const scopes = ["messages:send", "messages:read", "media:write", "contacts:write", "campaigns:write"] as const
export const scopeOfAll = "messages:send"
export const defaultScopes = ["messages:send", "messages:read", "media:write"] as const
