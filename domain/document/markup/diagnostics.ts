import { echo } from '../../log/issues.ts'

/** A part that the gateway removed from an applied payload. */
export type Diagnostic =
  | { readonly code: 'tag_removed'; readonly element: string }
  | { readonly code: 'attribute_removed' | 'link_dropped'; readonly element: string; readonly attribute: string }
  /** The number of diagnostics over the limit. */
  | { readonly code: 'more'; readonly count: number }

const LISTED = 100

/** Collects diagnostics. Lists the first 100 and counts the rest. */
export class Diagnostics {
  readonly #listed: Diagnostic[] = []
  #more = 0

  add(diagnostic: Exclude<Diagnostic, { code: 'more' }>): void {
    if (this.#listed.length >= LISTED) this.#more += 1
    else if ('attribute' in diagnostic)
      this.#listed.push({ ...diagnostic, element: echo(diagnostic.element), attribute: echo(diagnostic.attribute) })
    else this.#listed.push({ ...diagnostic, element: echo(diagnostic.element) })
  }

  list(): readonly Diagnostic[] {
    return this.#more === 0 ? this.#listed : [...this.#listed, { code: 'more', count: this.#more }]
  }
}
