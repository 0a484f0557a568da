/**
 * Storage in PostgreSQL: a server's, or one in the process.
 */
export * as Migrations from "./Migrations.ts"
export { OpenError } from "./OpenError.ts"
export * as PostgresStorage from "./PostgresStorage.ts"
