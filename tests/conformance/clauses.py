"""The clauses of the standards, and the tests of each."""

from dataclasses import dataclass

RULES = "tests/conformance/test_rfc9309_rules.py"
ACCESS = "tests/conformance/test_rfc9309_access.py"
URLS = "tests/conformance/test_whatwg_url.py"
WARC_FILES = "tests/storage/test_warc.py"
WARC = "tests/conformance/test_warc_1_1.py"
ROBOTS = "tests/web/test_robots.py"
ROBOTS_TXT = "tests/web/test_robots_txt.py"


@dataclass(frozen=True, slots=True)
class Clause:
    """A requirement of a standard, in our own words, and the tests for it."""

    section: str
    strength: str  # MUST, SHOULD, MAY; empty where the standard describes
    says: str
    tests: tuple[str, ...]  # node ids, without cases
    note: str = ""  # what honeyguide does where the standard leaves it open, or falls short


@dataclass(frozen=True, slots=True)
class Standard:
    """A standard, the parts of it that are implemented, and its clauses."""

    name: str
    url: str
    followed: str
    clauses: tuple[Clause, ...]


def _tests(file: str, *names: str) -> tuple[str, ...]:
    return tuple(f"{file}::test_{name}" for name in names)


ROBOTS_STANDARD = Standard(
    "RFC 9309, Robots Exclusion Protocol",
    "https://www.rfc-editor.org/rfc/rfc9309",
    "The whole of section 2, for the product token `honeyguide`. Crawl-delay, which is not part of"
    " it, is read and kept up to 60 s ([politeness.md](../use/politeness.md)).",
    (
        Clause(
            "2.1, 2.2",
            "",
            "A group is one or more user-agent lines, then rules; the next user-agent line after a"
            " rule begins another group.",
            _tests(
                RULES,
                "2_1_a_group_may_name_several_crawlers",
                "2_1_rules_end_a_list_of_crawlers",
            )
            + _tests(ROBOTS_TXT, "the_example_of_the_rfc_is_read_as_it_explains_it"),
        ),
        Clause(
            "2.2",
            "",
            "Names of lines are read in any case, with any white space around; lines end in LF,"
            " CR or CRLF; the file is UTF-8, with or without a byte-order mark.",
            _tests(
                RULES,
                "2_2_lines_end_in_each_of_three_ways",
                "2_2_white_space_and_the_case_of_names_do_not_count",
                "2_2_a_crawler_is_named_in_any_spelling_of_the_line",
                "2_2_a_byte_order_mark_before_the_first_line_is_no_part_of_it",
            )
            + _tests(ROBOTS_TXT, "lines_end_in_any_way", "what_people_write_is_understood"),
        ),
        Clause(
            "2.2.1",
            "MUST",
            "A product token is made of letters, underscores and hyphens.",
            _tests(
                RULES,
                "2_2_1_letters_underscores_and_hyphens_make_a_product_token",
                "2_2_1_what_follows_a_product_token_does_not_count",
            ),
        ),
        Clause(
            "2.2.1",
            "SHOULD",
            "The product token is part of the identification that the crawler sends.",
            _tests(RULES, "2_2_1_the_product_token_is_part_of_what_the_crawler_calls_itself"),
        ),
        Clause(
            "2.2.1",
            "SHOULD",
            "The identification says what the crawler is for.",
            _tests(RULES, "2_2_1_the_crawler_says_where_to_learn_what_it_is_for"),
            "By the contact address: the crawler's name is sent with it.",
        ),
        Clause(
            "2.2.1",
            "MUST",
            "The crawler's group is found without regard to case, and its rules are obeyed.",
            _tests(
                RULES,
                "2_2_1_a_product_token_is_found_whatever_the_case_of_its_letters",
                "2_2_1_a_group_for_another_product_token_is_not_for_this_crawler",
            )
            + _tests(ROBOTS_TXT, "a_crawler_goes_by_its_product_token"),
        ),
        Clause(
            "2.2.1",
            "MUST",
            "Several groups for the same crawler are combined into one.",
            _tests(RULES, "2_2_1_all_groups_of_a_product_token_are_one")
            + _tests(
                ROBOTS_TXT, "groups_of_the_same_crawler_are_one", "groups_for_everyone_are_one"
            ),
        ),
        Clause(
            "2.2.1",
            "MUST",
            "Without a group of its own, the crawler obeys the group for `*`.",
            _tests(
                RULES,
                "2_2_1_everyones_group_is_for_whoever_is_not_named",
                "2_2_1_a_group_of_its_own_takes_the_place_of_everyones",
            )
            + _tests(
                ROBOTS_TXT,
                "an_empty_group_of_its_own_frees_a_crawler_from_that_for_everyone",
            ),
        ),
        Clause(
            "2.2.1",
            "",
            "Where no group fits, no rules apply.",
            _tests(RULES, "2_2_1_without_a_group_that_fits_no_rule_holds"),
        ),
        Clause(
            "2.2.2",
            "MUST",
            "The paths of rules are compared with the URL's, from its first octet on; a rule fits"
            " when its end is reached before any difference.",
            _tests(RULES, "2_2_2_a_rule_fits_paths_that_begin_with_it")
            + _tests(
                ROBOTS_TXT,
                "patterns_fit_what_they_should",
                "matching_is_what_the_definition_says",
                "the_path_is_judged_as_it_will_be_asked_for",
            ),
        ),
        Clause(
            "2.2.2",
            "SHOULD",
            "Paths are compared with regard to case.",
            _tests(RULES, "2_2_2_paths_are_compared_with_regard_to_case"),
        ),
        Clause(
            "2.2.2",
            "MUST",
            "The most specific rule that fits decides: the one with the most octets.",
            _tests(RULES, "2_2_2_the_longest_rule_that_fits_decides_in_any_order")
            + _tests(ROBOTS_TXT, "the_longest_match_wins", "the_order_of_lines_means_nothing"),
            "The octets of the pattern are counted after its percent-encoding was made uniform.",
        ),
        Clause(
            "2.2.2",
            "MAY",
            "Rules that are there twice may be taken as one.",
            _tests(RULES, "2_2_2_a_rule_written_twice_is_one_rule"),
        ),
        Clause(
            "2.2.2",
            "SHOULD",
            "Between an Allow and a Disallow that are equivalent, Allow decides.",
            _tests(RULES, "2_2_2_allow_decides_between_two_rules_that_are_equal")
            + _tests(ROBOTS_TXT, "allow_wins_where_two_are_equally_long"),
        ),
        Clause(
            "2.2.2",
            "",
            "What no rule fits is allowed; an empty Disallow forbids nothing.",
            _tests(
                RULES,
                "2_2_2_what_no_rule_fits_is_allowed",
                "2_2_2_an_empty_rule_forbids_nothing",
                "2_2_2_an_empty_allow_allows_nothing_more",
            )
            + _tests(ROBOTS_TXT, "an_empty_disallow_forbids_nothing"),
        ),
        Clause(
            "2.2.2",
            "",
            "/robots.txt itself is always allowed.",
            _tests(RULES, "2_2_2_robots_txt_itself_is_always_allowed"),
        ),
        Clause(
            "2.2.2",
            "MUST",
            "Octets beyond ASCII and reserved ones are compared percent-encoded, unreserved ones"
            " decoded, in rules and URLs alike.",
            _tests(RULES, "2_2_2_an_octet_is_the_same_however_it_is_encoded")
            + _tests(
                ROBOTS_TXT,
                "one_octet_is_one_octet_however_it_is_written",
                "an_encoded_slash_in_a_path_is_no_slash",
            ),
        ),
        Clause(
            "2.2.2",
            "SHOULD",
            "Rules that belong to no group are ignored.",
            _tests(RULES, "2_2_2_rules_before_any_crawler_is_named_are_ignored")
            + _tests(ROBOTS_TXT, "rules_without_a_crawler_are_not_rules"),
        ),
        Clause(
            "2.2.2",
            "MAY",
            "A file in another encoding than UTF-8 may be understood as well.",
            _tests(RULES, "2_2_2_a_rule_that_is_not_utf_8_fits_its_own_octets"),
            "Its octets are compared as they are.",
        ),
        Clause(
            "2.2.3",
            "MUST",
            "`#` begins a comment.",
            _tests(RULES, "2_2_3_a_number_sign_begins_a_comment"),
        ),
        Clause(
            "2.2.3",
            "MUST",
            "`$` at the end of a rule is the end of the path.",
            _tests(RULES, "2_2_3_a_dollar_sign_at_the_end_is_the_end_of_the_path"),
        ),
        Clause(
            "2.2.3",
            "MUST",
            "`*` stands for any number of any characters.",
            _tests(RULES, "2_2_3_an_asterisk_is_any_number_of_characters"),
        ),
        Clause(
            "2.2.3",
            "SHOULD",
            "A special character that stands for itself is percent-encoded.",
            _tests(RULES, "2_2_3_special_characters_that_are_encoded_stand_for_themselves"),
        ),
        Clause(
            "2.2.4",
            "MAY",
            "Other records, such as Sitemap, may be interpreted, and misspelt ones understood.",
            _tests(RULES, "2_2_4_sitemaps_are_read_wherever_they_stand")
            + _tests(ROBOTS_TXT, "a_crawl_delay_is_a_number_of_seconds"),
        ),
        Clause(
            "2.2.4",
            "MUST NOT",
            "Other records do not interfere with the defined ones: they end no group.",
            _tests(
                RULES,
                "2_2_4_other_records_end_no_group",
                "2_2_4_other_records_part_no_list_of_crawlers",
                "2_2_4_other_records_before_all_groups_change_nothing",
            ),
        ),
        Clause(
            "2.3",
            "MUST",
            "The rules are in /robots.txt at the top of each service (scheme, host and port).",
            _tests(
                ACCESS,
                "2_3_the_file_is_robots_txt_at_the_top_of_the_service",
                "2_3_every_service_has_a_file_of_its_own",
                "2_3_rules_are_read_whatever_the_media_type_is_called",
            )
            + _tests(ROBOTS, "every_origin_has_its_own_robots_txt"),
        ),
        Clause(
            "2.3.1.1",
            "MUST",
            "When the file was fetched, the rules in it that can be read are followed.",
            _tests(ACCESS, "2_3_1_1_rules_that_were_fetched_are_followed")
            + _tests(
                ROBOTS,
                "what_robots_txt_forbids_is_not_asked_for",
                "a_redirect_into_what_is_forbidden_is_not_followed",
                "a_redirect_to_another_host_obeys_that_hosts_rules",
            ),
        ),
        Clause(
            "2.3.1.2",
            "SHOULD",
            "At least five redirects in a row are followed, across hosts too.",
            _tests(ACCESS, "2_3_1_2_five_redirects_are_followed"),
        ),
        Clause(
            "2.3.1.2",
            "MUST",
            "A file that is found within five redirects holds for the host that was asked first.",
            _tests(
                ACCESS,
                "2_3_1_2_redirects_are_followed_across_hosts_for_the_host_that_was_asked",
            ),
        ),
        Clause(
            "2.3.1.2",
            "MAY",
            "After more than five redirects the file may be taken as unavailable.",
            _tests(ACCESS, "2_3_1_2_after_more_redirects_there_is_no_file")
            + _tests(ROBOTS, "robots_txt_may_be_five_redirects_away_and_no_more"),
        ),
        Clause(
            "2.3.1.3",
            "MAY",
            "When the file is unavailable (400 to 499), everything may be fetched.",
            _tests(ACCESS, "2_3_1_3_a_file_that_is_unavailable_forbids_nothing")
            + _tests(ROBOTS, "no_robots_txt_allows_everything"),
            "429 counts as unreachable: it is no absence of rules but a plea for patience.",
        ),
        Clause(
            "2.3.1.4",
            "MUST",
            "When the file is unreachable (500 to 599, errors of the network), nothing is fetched.",
            _tests(
                ACCESS,
                "2_3_1_4_a_file_that_is_unreachable_forbids_everything",
                "2_3_1_4_no_answer_at_all_forbids_everything",
            )
            + _tests(
                ROBOTS,
                "a_robots_txt_that_does_not_answer_forbids_everything",
                "an_unreachable_robots_txt_is_asked_for_again_later",
            ),
        ),
        Clause(
            "2.3.1.4",
            "MAY",
            "After a long time of that, it may be taken as unavailable, or a copy be used.",
            _tests(
                ACCESS,
                "2_3_1_4_known_rules_hold_for_as_long_as_the_file_is_unreachable",
            ),
            "A copy is used; it is never taken as unavailable.",
        ),
        Clause(
            "2.3.1.5",
            "MUST",
            "Each line is tried, and the rules that can be read are used.",
            _tests(RULES, "2_3_1_5_lines_that_cannot_be_read_hide_no_others")
            + _tests(ROBOTS_TXT, "no_file_and_no_url_is_too_strange"),
        ),
        Clause(
            "2.4",
            "MAY",
            "The file may be kept, instead of being fetched for every page.",
            _tests(
                ACCESS,
                "2_4_a_file_is_asked_for_once_a_day",
                "2_4_that_there_is_no_file_is_known_for_a_day",
            )
            + _tests(ROBOTS, "many_pages_at_once_share_one_robots_txt"),
        ),
        Clause(
            "2.4",
            "SHOULD NOT",
            "It is not used for more than 24 hours, unless it is unreachable.",
            _tests(ACCESS, "2_4_a_file_is_not_used_for_more_than_a_day")
            + _tests(
                ROBOTS,
                "rules_are_kept_for_a_day_and_no_longer",
                "old_rules_hold_while_new_ones_cannot_be_had",
            ),
        ),
        Clause(
            "2.5",
            "MUST",
            "At least 500 KiB are parsed.",
            _tests(ACCESS, "2_5_rules_in_the_first_500_kib_hold")
            + _tests(ROBOTS_TXT, "all_of_half_a_megabyte_is_read"),
        ),
        Clause(
            "2.5",
            "SHOULD",
            "There is a limit to what is parsed.",
            _tests(ACCESS, "2_5_there_is_an_end_to_what_is_read")
            + _tests(ROBOTS, "the_first_half_megabyte_of_an_endless_robots_txt_counts"),
            "600 KiB.",
        ),
    ),
)

URL_STANDARD = Standard(
    "WHATWG URL Standard",
    "https://url.spec.whatwg.org/",
    "Parsing and serialising of http and https URLs, with or without a base, by the library"
    " ada-url; plain URLs take a shorter way, which the tests compare with the library. On top of"
    " it, one page has one spelling: the last clauses.",
    (
        Clause(
            "4.4",
            "",
            "Schemes are read in any case; slashes after them may be missing, be many, or be"
            " backslashes.",
            _tests(URLS, "schemes_are_read_in_any_case_and_only_http_is_followed"),
            "Other schemes than http and https are no addresses to fetch.",
        ),
        Clause(
            "4.4",
            "",
            "Tabs and line ends are taken out; control characters and spaces around a URL as well.",
            _tests(URLS, "tabs_and_line_ends_are_taken_out_and_white_space_around"),
        ),
        Clause(
            "3.3, 3.5",
            "",
            "Host names are percent-decoded, mapped by UTS 46 and written in Punycode; forbidden"
            " code points make a URL invalid.",
            _tests(URLS, "host_names_are_decoded_and_in_ascii"),
        ),
        Clause(
            "3.3",
            "",
            "A label that begins with `xn--` and is no valid Punycode makes a URL invalid.",
            _tests(URLS, "host_names_that_are_no_punycode_are_refused"),
            "Falls short: ada-url takes any host name in ASCII as it is.",
        ),
        Clause(
            "3.5",
            "",
            "IPv4 addresses: one to four numbers, decimal, octal or hexadecimal.",
            _tests(URLS, "ipv4_addresses_have_four_numbers_however_they_are_written"),
        ),
        Clause(
            "3.5",
            "",
            "IPv6 addresses are compressed; malformed ones are invalid.",
            _tests(URLS, "ipv6_addresses_are_as_short_as_they_can_be"),
        ),
        Clause(
            "4.4",
            "",
            "Ports are numbers up to 65535; that of the scheme is left out.",
            _tests(URLS, "ports_are_numbers_and_the_usual_one_is_left_out"),
        ),
        Clause(
            "4.4",
            "",
            "Dot segments are resolved, percent-encoded ones too; backslashes are slashes.",
            _tests(URLS, "dot_segments_are_resolved_in_every_spelling"),
        ),
        Clause(
            "1.3, 4.4",
            "",
            "Paths are encoded by the path percent-encode set; what is encoded stays as it is.",
            _tests(URLS, "paths_are_percent_encoded_where_they_must_be_and_only_there"),
        ),
        Clause(
            "1.3, 4.4",
            "",
            "Queries are encoded by the special-query percent-encode set.",
            _tests(URLS, "queries_are_percent_encoded_by_their_own_rule"),
            "Always in UTF-8, whatever the encoding of the page.",
        ),
        Clause(
            "4.4",
            "",
            "A relative URL is resolved against its base.",
            _tests(URLS, "relative_addresses_are_joined_with_the_page_they_are_on")
            + _tests(
                "tests/urls/test_urls.py",
                "a_relative_url_is_joined_with_its_base",
                "the_short_way_agrees_with_the_parser",
            ),
        ),
        Clause(
            "4.5",
            "",
            "Serialising with the fragment left out.",
            _tests(URLS, "fragments_are_left_out_since_servers_never_see_them")
            + _tests(
                "tests/urls/test_urls.py",
                "a_canonical_url_is_its_own_canonical_form",
                "a_canonical_url_has_a_host_and_no_fragment",
            ),
        ),
        Clause(
            "beyond",
            "",
            "Credentials, which are never sent, and a last dot of the host are left out.",
            _tests(URLS, "beyond_the_standard_credentials_and_a_last_dot_are_left_out")
            + _tests("tests/urls/test_urls.py", "credentials_and_a_last_dot_name_no_other_place"),
        ),
        Clause(
            "beyond",
            "",
            "Query parameters that name visitors, sessions and campaigns are left out, and so is an"
            " empty query; URLs of more than 2,048 characters are no addresses.",
            _tests(URLS, "beyond_the_standard_marks_of_visits_and_campaigns_are_left_out")
            + _tests(
                "tests/urls/test_urls.py",
                "one_page_has_one_spelling",
                "what_is_no_web_address_has_no_canonical_form",
            ),
        ),
    ),
)

WARC_STANDARD = Standard(
    "WARC 1.1 (ISO 28500:2017), with CDXJ",
    "https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/",
    "Files of warcinfo, response, request and metadata records, and a CDXJ index beside each."
    " revisit, resource, conversion and continuation records are not written.",
    (
        Clause(
            "4",
            "",
            "A record is a version line, named fields, an empty line, the block and two line ends.",
            _tests(
                WARC,
                "a_record_begins_with_the_version",
                "a_record_ends_after_its_length_with_two_line_ends",
                "no_header_of_a_server_breaks_a_record",
            )
            + _tests(WARC_FILES, "a_header_cannot_smuggle_in_another"),
        ),
        Clause(
            "5.2 to 5.5",
            "MUST",
            "Every record has WARC-Record-ID, Content-Length, WARC-Date and WARC-Type; an id is a"
            " URI in angle brackets and unique, a date is UTC and that of the capture's begin.",
            _tests(
                WARC,
                "a_record_has_the_four_fields_that_all_must_have",
                "an_id_is_a_uuid_in_angle_brackets",
                "no_two_records_have_the_same_id",
                "a_date_is_utc_in_the_form_of_w3c",
                "the_date_is_when_the_capture_began",
            )
            + _tests("tests/web/test_http.py", "a_response_says_when_it_was_asked_for"),
            "All records of a capture have the time at which its last request was sent.",
        ),
        Clause(
            "5, Content-Type",
            "SHOULD",
            "A block says of what type it is.",
            _tests(WARC, "a_block_says_of_what_type_it_is"),
        ),
        Clause(
            "5",
            "MUST",
            "A field is only in records of the types that may have it.",
            _tests(WARC, "a_field_is_only_where_it_may_be"),
        ),
        Clause(
            "5, WARC-Concurrent-To",
            "",
            "Records of one capture name one of them.",
            _tests(WARC, "request_and_metadata_point_at_their_response"),
        ),
        Clause(
            "5, WARC-Block-Digest, WARC-Payload-Digest",
            "",
            "Digests of block and payload: SHA-1 in base 32.",
            _tests(WARC, "a_block_digest_is_that_of_the_block")
            + _tests(WARC_FILES, "digests_and_bodies_hold_whatever_a_server_sends"),
            "Of responses. The payload is the decoded body.",
        ),
        Clause(
            "5, WARC-Target-URI",
            "MUST",
            "Records of a page name its URL.",
            _tests(WARC, "records_of_a_page_name_its_url_without_brackets"),
        ),
        Clause(
            "5, WARC-Truncated",
            "",
            "A record that is not whole says why, in one of four words.",
            _tests(
                WARC,
                "a_body_that_is_not_whole_says_why_in_the_words_of_the_standard",
            )
            + _tests(WARC_FILES, "a_body_that_is_not_whole_is_marked"),
        ),
        Clause(
            "6.2",
            "SHOULD",
            "A file begins with a warcinfo record that says what wrote it.",
            _tests(
                WARC,
                "a_file_begins_with_warcinfo_and_a_page_is_three_records",
                "warcinfo_names_its_file_and_who_wrote_it",
            ),
        ),
        Clause(
            "6.3",
            "",
            "A response record has the whole HTTP answer, with any status.",
            _tests(WARC, "an_answer_is_kept_with_its_status_line_whatever_it_is")
            + _tests(WARC_FILES, "a_body_is_kept_as_decoded_and_its_headers_say_so"),
            "The body is kept decoded: Content-Encoding, Transfer-Encoding and Content-Length of"
            " the wire are kept as X-Crawler-... headers.",
        ),
        Clause(
            "6.5",
            "",
            "A request record has the HTTP request.",
            _tests(WARC, "a_request_is_the_http_request_that_was_sent")
            + _tests(
                WARC_FILES,
                "a_visit_is_a_response_a_request_and_what_is_known_about_it",
            ),
            "Written from the headers that every request carries.",
        ),
        Clause(
            "Annex D",
            "SHOULD",
            "Each record is a gzip member of its own.",
            _tests(WARC, "every_record_is_a_gzip_member_of_its_own"),
        ),
        Clause(
            "CDXJ",
            "",
            "A sorted line for each response: SURT, 14 digits, JSON with url, status, mime, digest,"
            " length, offset and filename.",
            _tests(
                WARC,
                "an_index_is_sorted_by_the_bytes_of_its_lines",
                "a_line_is_a_sort_key_fourteen_digits_and_json",
                "a_line_leads_to_its_record_and_to_its_digest",
                "a_line_without_a_media_type_says_unk",
                "a_sort_key_is_the_host_turned_round_and_the_rest_in_order",
            ),
        ),
    ),
)

STANDARDS = (ROBOTS_STANDARD, URL_STANDARD, WARC_STANDARD)
