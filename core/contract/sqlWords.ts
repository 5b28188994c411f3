import type { SqlDialect } from './schema';

/** Words of statements that do more than read, or that lock, wait or take a statement from somewhere else. */
export const FORBIDDEN_WORDS: ReadonlySet<string> = new Set(
  `into for insert update delete merge replace create drop alter truncate grant revoke call execute exec do copy set reset
   lock unlock procedure handler load outfile dumpfile notify listen unlisten prepare deallocate explain analyze analyse
   begin commit rollback savepoint declare fetch close vacuum cluster reindex refresh import attach table values
   returning discard checkpoint security reassign rename flush kill shutdown use install uninstall optimize repair
   language tablesample`
    .split(/\s+/)
    .filter(Boolean),
);

/** Words after which a parenthesis opens something other than the arguments of a function. */
export const BEFORE_PARENTHESIS: ReadonlySet<string> = new Set(
  `select from where and or not in exists any all some as on using by having case when then else between like ilike
   union intersect except join lateral over filter group order distinct is limit offset interval with recursive
   numeric decimal varchar char character float`
    .split(/\s+/)
    .filter(Boolean),
);

const ORDINARY = `count sum avg min max coalesce nullif lower upper trim ltrim rtrim length char_length left right substring
  concat concat_ws round floor ceil ceiling abs mod greatest least cast extract row_number rank dense_rank lag lead
  first_value last_value date year month day`;

/**
 * The functions that a statement may call: each only computes, from its arguments or the catalogue. What is not here is
 * refused, so that a function which writes, waits, reads a file or opens a connection need not be known by name.
 */
export const FUNCTIONS: Record<SqlDialect, ReadonlySet<string>> = {
  postgresql:
    words(`${ORDINARY} date_trunc date_part to_char now age make_date string_agg array_agg bool_and bool_or
    split_part position format_type col_description obj_description pg_total_relation_size pg_relation_size
    pg_get_constraintdef pg_get_indexdef jsonb_array_length jsonb_typeof`),
  mariadb: words(`${ORDINARY} date_format datediff timestampdiff now curdate if ifnull group_concat json_value
    json_extract json_length database`),
};

/**
 * Relations of the system catalogue that describe tables; the others hold passwords, settings and what other users run.
 * Besides them there is information_schema, which shows of tables only those that the principal may read.
 */
export const CATALOGUE: ReadonlySet<string> = words(
  `pg_catalog pg_class pg_namespace pg_attribute pg_index pg_constraint pg_stat_user_tables`,
);

/** Schemas of the server itself. */
export const SERVER_SCHEMAS: ReadonlySet<string> = words('mysql performance_schema sys pg_toast');

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(/\s+/).filter(Boolean));
}
