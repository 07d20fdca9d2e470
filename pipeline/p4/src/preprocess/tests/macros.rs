//! Object-like and function-like macros, `#`, `##`, `...`.

use super::{check, messages};

#[test]
fn example_3_rescans_and_does_not_recurse() {
    let definitions = "\
#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
#define p() int
#define q(x) x
#define r(x,y) x ## y
#define str(x) # x
";
    let cases = [
        (
            "f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);",
            "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ;",
        ),
        (
            "g(x+(3,4)-w) | h 5) & m(f)^m(m);",
            "f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ;",
        ),
        ("p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };", "int i [ ] = { 1 , 23 , 4 , 5 , } ;"),
        ("{ str(hello), str() }", "{ \"hello\" , \"\" }"),
    ];
    for (text, expected) in cases {
        check(&format!("{definitions}{text}"), expected);
    }
}

#[test]
fn example_4_makes_strings_and_pastes() {
    let definitions = "\
#define str(s) # s
#define xstr(s) str(s)
#define debug(s, t) printf(\"x\" # s \"= %d, x\" # t \"= %s\", \\
                           x ## s, x ## t)
#define INCFILE(n) vers ## n
#define glue(a, b) a ## b
#define xglue(a, b) glue(a, b)
#define HIGHLOW \"hello\"
#define LOW LOW \", world\"
";
    let cases = [
        ("debug(1, 2);", "printf ( \"x\" \"1\" \"= %d, x\" \"2\" \"= %s\" , x1 , x2 ) ;"),
        (
            "str(strncmp(\"abc\\0d\", \"abc\") == 0) str(: @\\n)",
            "\"strncmp(\\\"abc\\\\0d\\\", \\\"abc\\\") == 0\" \": @\\n\"",
        ),
        ("xstr(INCFILE(2).h)", "\"vers2.h\""),
        ("glue(HIGH, LOW);", "\"hello\" ;"),
        ("xglue(HIGH, LOW)", "\"hello\" \", world\""),
    ];
    for (text, expected) in cases {
        check(&format!("{definitions}{text}"), expected);
    }
}

#[test]
fn example_5_pastes_absent_arguments() {
    let text = "#define t(x,y,z) x ## y ## z
{ t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };";
    check(text, "{ 123 , 45 , 67 , 89 , 10 , 11 , 12 , } ;");
}

#[test]
fn a_pasted_hash_hash_is_no_operator() {
    let text = "#define hash_hash # ## #
#define mkstr(a) # a
#define in_between(a) mkstr(a)
#define join(c, d) in_between(c hash_hash d)
join(x, y);";
    check(text, "\"x ## y\" ;");
}

#[test]
fn example_7_takes_variable_arguments() {
    let definitions = "#define debug(...) fprintf(stderr, __VA_ARGS__)
#define showlist(...) puts(#__VA_ARGS__)
#define report(test, ...) ((test)?puts(#test): printf(__VA_ARGS__))
#define gnu(name, rest...) name(0, ## rest)
";
    let cases = [
        ("debug(\"Flag\");", "fprintf ( stderr , \"Flag\" ) ;"),
        ("debug(\"X = %d\", x);", "fprintf ( stderr , \"X = %d\" , x ) ;"),
        (
            "showlist(The first, second, and third items.);",
            "puts ( \"The first, second, and third items.\" ) ;",
        ),
        (
            "report(x>y, \"x is %d but y is %d\", x, y);",
            "( ( x > y ) ? puts ( \"x>y\" ) : printf ( \"x is %d but y is %d\" , x , y ) ) ;",
        ),
        ("gnu(f) gnu(f, 1) gnu(f, 1, 2)", "f ( 0 ) f ( 0 , 1 ) f ( 0 , 1 , 2 )"),
    ];
    for (text, expected) in cases {
        check(&format!("{definitions}{text}"), expected);
    }
}

#[test]
fn a_pair_that_is_no_token_stays_two_tokens() {
    check("#define FIELD(h, f) h.##f\nFIELD(hdr, ttl)", "hdr . ttl");
    check(
        "#define ACT(n) @name(#n) action do_##n##_now()\nACT(drop)",
        "@ name ( \"drop\" ) action do_drop_now ( )",
    );
}

#[test]
fn numbers_with_widths_are_pasted() {
    check("#define W(w, v) w##w##v\n#define H(v) 16w ## v\nH(0x86dd)", "16w0x86dd");
}

#[test]
fn a_function_like_macro_without_parentheses_is_a_name() {
    check("#define F(x) x + F\nF F(1) (2)", "F 1 + F ( 2 )");
    check("#define F(x) [x]\nF\n  (1) F", "[ 1 ] F");
}

#[test]
fn arguments_may_span_lines_and_directives() {
    check("#define F(a, b) a b\nF(1,\n#if 0\n2\n#else\n3\n#endif\n) 4", "1 3 4");
}

#[test]
fn program_text_of_a_table_can_be_an_argument() {
    let text = "#define BOTH(body) body body\nBOTH(table t { size = 1; })";
    check(text, "table t { size = 1 ; } table t { size = 1 ; }");
}

#[test]
fn a_pragma_ends_with_its_line_although_macros_are_in_it() {
    check("#define N 3\n@pragma stage N\n#define EMPTY\nEMPTY table t", "@ pragma stage 3\ntable t");
}

#[test]
fn lines_are_joined_inside_words_and_comments() {
    check("ab\\\ncd // comment \\\n still comment\n/* a\n b */ e\r\nf", "abcd\ne\nf");
}

#[test]
fn a_range_is_not_a_number_with_points() {
    check("1..5 0x0F..0xFF", "1 .. 5 0x0F .. 0xFF");
}

#[test]
fn line_file_and_counter_are_built_in() {
    check("\n__LINE__ __COUNTER__ __FILE__ __COUNTER__", "2 0 \"test.p4\" 1");
}

#[test]
fn mistakes_in_macros_have_messages() {
    let cases = [
        ("#define\n", "`#define` has no name"),
        ("#define 3 4\n", "`#define` has no name"),
        ("#define defined 1\n", "`defined` cannot be the name of a macro"),
        ("#define F(a, a) a\n", "two parameters of the macro have the name `a`"),
        ("#define F(a b) a\n", "expected `,` or `)` after a parameter of the macro, found `b`"),
        ("#define F(a, 1) a\n", "expected a parameter of the macro, found `1`"),
        ("#define F(a\n", "expected `,` or `)` after a parameter of the macro, found the end of the line"),
        ("#define F(a) ## a\n", "`##` is at an end of the replacement"),
        ("#define F(a) a ##\n", "`##` is at an end of the replacement"),
        ("#define F(a, b) a b\nF(1)\n", "macro `F` has 2 parameters, found 1 arguments"),
        ("#define F(a) a\nF(1, 2)\n", "macro `F` has 1 parameters, found 2 arguments"),
        ("#define F(a) a\nF(1\n", "the use of macro `F` has no `)`"),
        ("#define A 1\n#define A 2\n", "macro `A` is defined again, differently"),
        ("#undef\n", "`#undef` has no name"),
        ("#undef A B\n", "`B` after `#undef` has no meaning"),
    ];
    for (text, message) in cases {
        assert_eq!(messages(text), [message], "{text}");
    }
}

#[test]
fn the_same_definition_twice_is_no_mistake() {
    check("#define A(x) x + 1\n#define A(x) x  +  1 // again\nA(2)", "2 + 1");
}
