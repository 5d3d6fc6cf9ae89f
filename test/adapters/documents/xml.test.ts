import { describe, expect, it } from 'vitest'
import { parseXml } from '../../../adapters/loro/xml/parse.ts'
import { MARKUP_LIMITS } from '../../../domain/document/markup/limits.ts'
import { NOT_PARSED } from '../../support/documents/attacks.ts'

const parse = (xml: string) => parseXml(xml, MARKUP_LIMITS)
const nested = (depth: number) => '<a>'.repeat(depth) + '</a>'.repeat(depth)

describe('the parser of ops_xml', () => {
  it('reads elements, attributes, texts and references as they are written', () => {
    expect(
      parse('<?xml version="1.0"?><Ops a="&lt;&#65;"><!-- c --> t&amp;<![CDATA[<b>]]><x:y __proto__="1"/></Ops>'),
    ).toEqual({
      kind: 'tree',
      root: {
        name: 'Ops',
        attributes: [['a', '<A']],
        children: [' t&', '<b>', { name: 'x:y', attributes: [['__proto__', '1']], children: [] }],
      },
    })
  })

  it.each(NOT_PARSED.limits)('finds %s beyond the limits', (xml) => {
    expect(parse(xml).kind).toBe('limits')
  })

  it.each(NOT_PARSED.malformed)('finds %j malformed, and says so briefly', (xml) => {
    const parsed = parse(xml)
    expect(parsed.kind).toBe('malformed')
    expect(parsed).toMatchObject({
      message: expect.stringMatching(/^is not well-formed XML \(.{1,120}\); correct it$/),
    })
  })

  it('counts depth with the root as 1', () => {
    expect([50, 51].map((depth) => parse(nested(depth)).kind)).toEqual(['tree', 'limits'])
    expect(parse(nested(100_000)).kind).toBe('limits')
  })

  it('counts elements and texts that are not blank', () => {
    const root = (inside: string) => parse(`<r>${inside}</r>`).kind
    expect([root('<a>x</a> '.repeat(4999)), root('<a>x</a>'.repeat(5000))]).toEqual(['tree', 'limits'])
    expect([root('<a/>\n'.repeat(9999)), root('<a/>'.repeat(10_000))]).toEqual(['tree', 'limits'])
  })
})
