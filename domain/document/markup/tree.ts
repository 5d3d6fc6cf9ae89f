/** A parsed element. Names and values are unchanged, with entities resolved. */
export interface Element {
  readonly name: string
  readonly attributes: readonly Attribute[]
  readonly children: readonly Node[]
}
export type Attribute = readonly [name: string, value: string]

/** A text is a plain string. A tree contains no comments and no processing instructions. */
export type Node = Element | string

export const isElement = (node: Node): node is Element => typeof node !== 'string'

/** The value of an attribute by its exact name. */
export const attributeOf = ({ attributes }: Element, name: string): string | undefined =>
  attributes.find(([own]) => own === name)?.[1]

export const element = (name: string, children: readonly Node[], attributes: readonly Attribute[] = []): Element => ({
  name,
  attributes,
  children,
})
