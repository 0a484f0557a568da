/** One page of a list under `/v1` (contract §1). */
export interface Page<Item> {
  readonly data: ReadonlyArray<Item>
  readonly has_more: boolean
  /** `cursor` of the next page. */
  readonly next_cursor: string | null
}

/** One page of a list under `/internal` (contract §1). */
export interface InternalPage<Item> {
  readonly data: ReadonlyArray<Item>
  readonly hasMore: boolean
  /** `cursor` of the next page. */
  readonly nextCursor: string | null
}
