/**
 * An in-memory table of rows that belong to workspaces.
 */
import { type Id, Page } from "@wac/core"

/** Something that has an identifier and belongs to one workspace. */
interface Row {
  readonly id: string
  readonly workspaceId: Id.WorkspaceId
}

/** Rows by identifier, and each workspace's rows in the order of their identifiers. */
export class Table<A extends Row> {
  readonly #rows = new Map<A["id"], A>()
  readonly #ids = new Map<Id.WorkspaceId, Array<A["id"]>>()

  get(id: A["id"]): A | undefined {
    return this.#rows.get(id)
  }

  /** The row, if it belongs to that workspace. */
  of(workspaceId: Id.WorkspaceId, id: A["id"]): A | undefined {
    const row = this.#rows.get(id)
    return row?.workspaceId === workspaceId ? row : undefined
  }

  /** Adds a row, or replaces the one with its identifier. */
  set(row: A): void {
    if (!this.#rows.has(row.id)) {
      const ids = this.#ids.get(row.workspaceId) ?? []
      this.#ids.set(row.workspaceId, ids)
      ids.splice(position(ids, row.id), 0, row.id)
    }
    this.#rows.set(row.id, row)
  }

  delete(row: A): void {
    if (!this.#rows.delete(row.id)) return
    const ids = this.#ids.get(row.workspaceId)!
    ids.splice(position(ids, row.id), 1)
  }

  /** Deletes the rows that are old by the caller's judgement. Returns how many. */
  forget(isOld: (row: A) => boolean): number {
    const before = this.#rows.size
    for (const row of this.#rows.values()) if (isOld(row)) this.delete(row)
    return before - this.#rows.size
  }

  /** All rows of all workspaces. */
  values(): Iterable<A> {
    return this.#rows.values()
  }

  /** All rows of a workspace, oldest first. */
  all(workspaceId: Id.WorkspaceId): ReadonlyArray<A> {
    return (this.#ids.get(workspaceId) ?? []).map((id) => this.#rows.get(id)!)
  }

  /** Up to `limit` of a workspace's rows after an identifier, oldest first. */
  after(
    workspaceId: Id.WorkspaceId,
    id: A["id"] | null,
    limit: number,
    keep: (row: A) => boolean = () => true
  ): ReadonlyArray<A> {
    const ids = this.#ids.get(workspaceId) ?? []
    const found: Array<A> = []
    const at = id === null ? 0 : position(ids, id)
    for (let i = ids[at] === id ? at + 1 : at; i < ids.length && found.length < limit; i++) {
      const row = this.#rows.get(ids[i]!)!
      if (keep(row)) found.push(row)
    }
    return found
  }

  /** A page of a workspace's rows, newest first. */
  page(workspaceId: Id.WorkspaceId, request: Page.PageRequest, keep: (row: A) => boolean): Page.Page<A> {
    const ids = this.#ids.get(workspaceId) ?? []
    const found: Array<A> = []
    const end = request.after === null ? ids.length : position(ids, request.after)
    for (let i = end - 1; i >= 0 && found.length <= request.limit; i--) {
      const row = this.#rows.get(ids[i]!)!
      if (keep(row)) found.push(row)
    }
    return Page.fromOverread(found, request, ({ id }) => id)
  }
}

/**
 * The index of an identifier, or where it belongs. New identifiers are nearly always the greatest, so that is tried
 * first.
 */
const position = (ids: ReadonlyArray<string>, id: string): number => {
  if (ids.length === 0 || ids.at(-1)! < id) return ids.length
  let low = 0
  let high = ids.length - 1
  while (low < high) {
    const middle = (low + high) >> 1
    if (ids[middle]! < id) low = middle + 1
    else high = middle
  }
  return low
}
