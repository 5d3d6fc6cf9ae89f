import { constants, zstdCompressSync } from 'node:zlib'
import { ByteWriter } from 'hyparquet-writer'
import { writePageHeader } from 'hyparquet-writer/src/datapage.js'
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js'
import type { ChunkValues } from './column-values.ts'

/** A higher level takes more time than the rest of the encoder, and saves little. */
const PARAMS = { [constants.ZSTD_c_compressionLevel]: 1 }
/** The most bytes that a chunk of the compressor's output has. One chunk for a page needs no join. */
const MOST_OUTPUT = 4 * 1024 * 1024

export interface PageFormat {
  readonly name: string
  readonly type: 'BYTE_ARRAY' | 'INT32' | 'INT64' | 'DOUBLE' | 'BOOLEAN'
  /** Whether values can be null. */
  readonly isOptional: boolean
}

export type WrittenChunk = ReturnType<typeof writeChunk>

/** Writes the values of a column in one page, after a page with its dictionary. Returns the metadata. */
export function writeChunk(writer: ByteWriter, { name, type, isOptional }: PageFormat, values: ChunkValues) {
  const begin = writer.offset
  const { levels, nulls, plain, dictionary, bounds } = values
  let uncompressed = 0
  if (dictionary !== null) {
    const { size } = dictionary
    const dictionary_page_header = { num_values: size, encoding: 'PLAIN' } as const
    uncompressed += writePage(writer, { type: 'DICTIONARY_PAGE', dictionary_page_header }, plain)
  }
  const pageAt = writer.offset
  const held = new ByteWriter()
  if (isOptional) writeRleBitPackedHybrid(held, levels, 1)
  const encoding = dictionary === null ? ('PLAIN' as const) : ('RLE_DICTIONARY' as const)
  const data_page_header_v2 = {
    ...{ num_values: levels.length, num_nulls: nulls, num_rows: levels.length, encoding },
    ...{ definition_levels_byte_length: held.offset, repetition_levels_byte_length: 0, is_compressed: true },
  }
  const page = dictionary === null ? plain : indexBytes(dictionary)
  uncompressed += writePage(writer, { type: 'DATA_PAGE_V2', data_page_header_v2 }, page, held.getBytes())
  const statistics = bounds && { min_value: bounds[0], max_value: bounds[1], null_count: BigInt(nulls) }
  return {
    file_offset: BigInt(begin),
    meta_data: {
      type,
      encodings: dictionary === null ? [encoding] : [encoding, 'PLAIN' as const],
      path_in_schema: [name],
      codec: 'ZSTD' as const,
      num_values: BigInt(levels.length),
      total_compressed_size: BigInt(writer.offset - begin),
      total_uncompressed_size: BigInt(uncompressed),
      data_page_offset: BigInt(pageAt),
      ...(dictionary !== null && { dictionary_page_offset: BigInt(begin) }),
      ...(statistics !== null && { statistics }),
    },
  }
}

type Header = Omit<Parameters<typeof writePageHeader>[1], 'uncompressed_page_size' | 'compressed_page_size'>

/** Returns the uncompressed size with the header. `levels` stay uncompressed. */
function writePage(writer: ByteWriter, header: Header, bytes: Uint8Array, levels = new Uint8Array(0)): number {
  const packed = zstdCompressSync(bytes, {
    params: PARAMS,
    pledgedSrcSize: bytes.length,
    chunkSize: Math.min(bytes.length + 64, MOST_OUTPUT),
  })
  const begin = writer.offset
  const uncompressed_page_size = levels.length + bytes.length
  writePageHeader(writer, { ...header, uncompressed_page_size, compressed_page_size: levels.length + packed.length })
  const size = writer.offset - begin + uncompressed_page_size
  writer.appendBytes(levels)
  writer.appendBytes(packed)
  return size
}

/** The width of the indexes in bits, then the indexes. */
function indexBytes({ size, indexes }: NonNullable<ChunkValues['dictionary']>): Uint8Array {
  const width = Math.ceil(Math.log2(size))
  const writer = new ByteWriter()
  writer.appendUint8(width)
  writeRleBitPackedHybrid(writer, indexes, width)
  return writer.getBytes()
}
