import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { blameLines } from '../../../api/operations/files/diff/blame-lines.ts'
import { property } from '../../support/property.ts'

describe('the lines of a file', () => {
  it('each have the version that wrote them last', () => {
    expect(blameLines(['a\nb\nc\n', 'a\nB\nc\n', 'a\nB\nc\nd'])).toEqual([
      { version: 0, text: 'a\n' },
      { version: 1, text: 'B\n' },
      { version: 0, text: 'c\n' },
      { version: 2, text: 'd' },
    ])
  })

  it('are all new where the file was away before, or its last line got its end', () => {
    expect(blameLines(['a\n', null, 'a\n'])).toEqual([{ version: 2, text: 'a\n' }])
    expect(blameLines(['a', 'a\n'])).toEqual([{ version: 1, text: 'a\n' }])
    expect(blameLines([null])).toEqual([])
    expect(blameLines(['a\n', 'b\n', 'a\n'])).toEqual([{ version: 2, text: 'a\n' }])
  })

  it('are together the last version, and every line stands in the version that it names', () => {
    const file = fc
      .array(fc.constantFrom('a\n', 'b\n', '\n', 'c d\n', '\r\n'), { maxLength: 8 })
      .map((all) => all.join(''))
    fc.assert(
      fc.property(fc.array(fc.option(file), { minLength: 1, maxLength: 6 }), (versions) => {
        const parts = blameLines(versions)
        expect(parts.map(({ text }) => text).join('')).toBe(versions.at(-1) ?? '')
        for (const { version, text } of parts)
          for (const line of text.split(/(?<=\n)/)) expect(versions[version]).toContain(line)
        for (const { version } of parts)
          for (let i = version; i < versions.length; i++) expect(versions[i]).not.toBe(null)
      }),
      property(200),
    )
  })
})
