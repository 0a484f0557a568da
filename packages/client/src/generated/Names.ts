/** Names of the interface of programs. Written from the API definition; do not edit. */

/** Fields of the wire whose name in the interface is another word. */
export const renamed = { tenant_id: "workspaceId", media_id: "id" }
